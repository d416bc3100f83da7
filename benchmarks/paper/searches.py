"""Searches whose samples are kept: a file each, so that an interrupted benchmark goes on."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from common import atomic_write
from maestro_env import PAPER_SPACES, BudgetExhausted, Evaluation, Problem
from mapper.clustering import Assignment, Dataset
from mapper.compare.plan import method_of

ALL = "agents=all"
"""In a method: one agent a parameter, however many the layer has."""
KEPT = 20_000
"""Samples up to which a search's actions are kept, too."""


@dataclass(frozen=True)
class Search:
    """One search, as plain values.

    Args:
        layer: The layer's name.
        objective: What is minimised.
        method: ``NAME:OPTION=VALUE``, or ``portfolio``'s classes.
        cost_model: The cost model's name.
        space: ``paper``, ``paper-10``, or nothing for the default space.
        accelerator: The accelerator's name.
        budget: Samples.
        seed: The seed.
        agents: Names of each agent's parameters, instead of what the method says.
        seconds: Processor time after which it ends; 0 lets the budget end it.
    """

    layer: str
    objective: str
    method: str
    cost_model: str = "maestro"
    space: str = "paper"
    accelerator: str = "archgym"
    budget: int = 20_000
    seed: int = 0
    agents: tuple[tuple[str, ...], ...] = ()
    seconds: float = 0.0

    @property
    def case(self) -> tuple[str, str, str, str, str]:
        """What is searched, whoever searches."""
        return self.cost_model, self.accelerator, self.space, self.layer, self.objective

    @property
    def key(self) -> str:
        """The name of its file."""
        whole = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:20]

    def __str__(self) -> str:
        how = f"{len(self.agents)} given agents, " if self.agents else ""
        return f"{self.method} on {', '.join(self.case[::-1])}, {how}seed {self.seed}"


@dataclass(frozen=True)
class Found:
    """What a search found.

    Args:
        values: ``(n,)`` value of every sample; inf where infeasible.
        actions: ``(n, P)``; none of a search of more than `KEPT` samples.
        clock: ``(m, 2)`` samples and processor time [s] after each batch.
        proven: Whether the best value is the optimum.
        seconds: Processor time of the whole search [s].
    """

    values: np.ndarray
    actions: np.ndarray
    clock: np.ndarray
    proven: bool
    seconds: float

    @property
    def best(self) -> float:
        """Lowest value; inf if no sample was feasible."""
        return float(self.values.min(initial=np.inf))

    def best_at(self, seconds: float) -> float:
        """Lowest value of the samples that were evaluated within some processor time [s]."""
        known = self.clock[self.clock[:, 1] <= seconds, 0]
        return float(self.values[: int(known[-1]) if len(known) else 0].min(initial=np.inf))

    def arrival(self, value: float) -> float:
        """The first sample at or below a value; inf if there is none."""
        there = np.flatnonzero(self.values <= value)
        return float(there[0] + 1) if len(there) else np.inf


def problem_of(search: Search) -> Problem:
    """The problem of a search.

    Area is searched together with the PEs in use, whatever the space: with these fixed it hardly
    depends on the mapping. No limit goes with it, as none is printed.
    """
    space = dict(PAPER_SPACES.get(search.space, {}))
    if search.objective == "area":
        space["co_search"] = ["num_pes"]
    return Problem(search.layer, search.accelerator, search.objective, search.cost_model, space)


def choosing(problem: Problem) -> tuple[str, ...]:
    """Parameters with more than one choice."""
    return tuple(p.name for p in problem.space.parameters if len(p) > 1)


def dataset_of(search: Search, found: Found) -> Dataset:
    """The samples of a search as what agents are clustered from."""
    space = problem_of(search).space
    categorical = np.array([not p.ordinal for p in space.parameters])
    data = Dataset(found.actions.astype(np.int64), found.values, space.names, categorical)
    return data.choosing(space.nvec > 1)


_warm: set[tuple[str, str]] = set()


def run(search: Search) -> Found:
    """Search, and keep every sample."""
    name = search.method.partition(":")[0]
    if (name, search.cost_model) not in _warm:  # imports and compilation are not counted
        _warm.add((name, search.cost_model))
        _run(replace(search, budget=min(search.budget, 40), seconds=0.0))
    return _run(search)


def _run(search: Search) -> Found:
    import baselines

    problem = problem_of(search)
    name, options = method_of(search.method.replace(ALL, f"agents={len(choosing(problem))}"))
    if search.agents:
        options = {**options, "agents": Assignment(search.agents)}
    actions: list[np.ndarray] = []
    values: list[np.ndarray] = []
    clock: list[tuple[float, float]] = []
    begin = time.process_time()

    def keep(batch: np.ndarray, evaluation: Evaluation) -> None:
        values.append(np.array(evaluation.values))
        if search.budget <= KEPT:
            actions.append(np.array(batch, dtype=np.int16))
        spent = time.process_time() - begin
        clock.append((problem.samples, spent))
        if search.seconds and spent >= search.seconds:
            raise BudgetExhausted("the time is used up")

    problem.on_evaluate = keep
    result = baselines.load(name, **options).search(problem, search.budget, search.seed)
    none = np.empty((0, len(problem.space.nvec)), np.int16)
    return Found(
        np.concatenate(values) if values else np.array([result.best_value]),
        np.concatenate([none, *actions]),
        np.array(clock).reshape(-1, 2),
        result.proven,
        time.process_time() - begin,
    )


class Kept:
    """Searches of a folder: what is there is read, what is not is run.

    Args:
        folder: The folder; made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, search: Search) -> Path:
        """The file of a search."""
        return self.folder / f"{search.key}.npz"

    def __call__(self, search: Search) -> Found:
        """What a search found, from its file or anew."""
        path = self.path(search)
        if not path.exists():
            keep_search(search, path)
        with np.load(path, allow_pickle=False) as file:
            return Found(
                file["values"],
                file["actions"],
                file["clock"],
                bool(file["proven"]),
                float(file["seconds"]),
            )

    def missing(self, searches: Iterable[Search]) -> list[Search]:
        """Those that have no file, each once."""
        return [one for one in dict.fromkeys(searches) if not self.path(one).exists()]

    def fill(self, searches: Iterable[Search], workers: int, tell: Callable[[str], None]) -> int:
        """Run what is missing, `workers` at a time; returns how many failed."""
        todo = self.missing(searches)
        failed = 0
        for place, (search, error) in enumerate(_each(todo, self, workers), 1):
            if error is not None:
                failed += 1
                tell(f"failed: {search}: {error}")
            elif place % 20 == 0 or place == len(todo):
                tell(f"{place} of {len(todo)} searches done")
        return failed


def keep_search(search: Search, path: Path) -> None:
    """Run a search and write its file, whole or not at all."""
    found = run(search)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, **asdict(found))


def _each(
    todo: list[Search], kept: Kept, workers: int
) -> Iterable[tuple[Search, Exception | None]]:
    if workers == 1:
        for search in todo:
            yield search, _failure(lambda one=search: keep_search(one, kept.path(one)))
        return
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # read by the processes when they start
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, context, signal.signal, (signal.SIGINT, 0)) as pool:
        futures = {pool.submit(keep_search, one, kept.path(one)): one for one in todo}
        for future in as_completed(futures):
            yield futures[future], _failure(future.result)


def _failure(work: Callable[[], Any]) -> Exception | None:
    try:
        work()
    except Exception as error:
        return error
    return None


def tell(text: str) -> None:
    """On standard error."""
    print(text, file=sys.stderr, flush=True)
