"""Sweeps: runs of a plan, a YAML file, through the store.

    about: Does the discount decide?
    steps: 300000
    seeds: [0, 1]
    cpu_s: 50                       # processor time of a run, for the estimate
    base: {task: tag-3, sparsity: 0.95, backend: compiled}
    vary: {arm: [dense, rigl, mast], gamma: [0.99, 0.95, 0.9]}

Every combination of what varies is a run of each seed. ``runs`` may list several such blocks, which
have whatever they do not say from the top.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from marl_common import atomic_write, not_known, read_yaml, typed
from marl_runs import RunStatus, Store
from mast.comparing import median_of
from mast.config import MastConfig
from mast.costs import check_run
from mast.errors import MastError
from mast.experiment import ValueTraining
from mast.running import backend_of
from mast.settings import make_config


@dataclass(frozen=True)
class PlanBlock:
    """Runs that share what varies.

    Attributes:
        steps: Steps of the environment of each run.
        episodes: Greedy episodes of an evaluation.
        seeds: Seeds of each combination.
        cpu_s: Processor time that a run is thought to take [s].
        base: Settings of all.
        vary: Values of settings that vary.
    """

    steps: int = 300_000
    episodes: int = 1024
    seeds: Sequence[int] = (0,)
    cpu_s: float = 60.0
    base: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def runs(self) -> Iterator[ValueTraining]:
        """A run for each combination and seed.

        Raises:
            MastError: A setting is wrong.
        """
        for values in product(*self.vary.values()):
            settings = {**self.base, **dict(zip(self.vary, values, strict=True))}
            config = make_config(settings)
            config = replace(config, backend=backend_of(config.arm, config.backend))
            for seed in self.seeds:
                yield ValueTraining(config, seed, self.steps, self.episodes)


@dataclass(frozen=True)
class PlannedRun:
    """A run of a plan.

    Attributes:
        run: The run.
        cpu_s: Processor time that it is thought to take [s].
    """

    run: ValueTraining
    cpu_s: float

    @property
    def command(self) -> str:
        """The command that does it alone."""
        run, config = self.run, self.run.config.plain()
        own = config.pop("own", {})
        words = ["mast", "train"]
        for name in ("task", "algorithm", "arm", "sparsity", "backend"):
            if name in config:
                words += [f"--{name}", str(config.pop(name))]
        for name, value in config.items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words += [
                    {"share": "--own"}.get(name, f"--no-{flag}") if not value else f"--{flag}"
                ]
            else:
                many = value if isinstance(value, list) else [value]
                words += [word for one in many for word in (f"--{flag}", str(one))]
        words += [word for name, one in own.items() for word in ("--set", f"{name}={one}")]
        words += ["--steps", str(run.budget), "--episodes", str(run.episodes)]
        return shlex.join([*words, "--seed", str(run.seed)])


def read_plan(file: Path) -> list[PlannedRun]:
    """The runs of a plan, each once.

    Raises:
        MastError: It is no plan, or a setting in it is wrong.
    """
    found = read_yaml(file, MastError)
    names = {f.name for f in fields(PlanBlock)}
    top = _checked(file, found, {*names, "about", "runs"})
    planned: dict[str, PlannedRun] = {}
    blocks = top.pop("runs", [{}])
    if not isinstance(blocks, list):
        raise MastError(f"{file}: runs: expected a list of blocks, got {blocks!r}.")
    for block in blocks:
        own = _checked(file, block, names)
        bases = [part.get("base", {}) for part in (top, own)]
        base: Any = {**bases[0], **bases[1]} if all(isinstance(b, dict) for b in bases) else bases
        made = _block(file, {**top, **own, "base": base})
        for run in made.runs():
            planned.setdefault(run.identity().key, PlannedRun(run, made.cpu_s))
    return list(planned.values())


def _checked(file: Path, given: Any, names: set[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise MastError(f"{file}: expected a mapping with some of {', '.join(sorted(names))}.")
    for name in given:
        if name not in names:
            raise MastError(f"{file}: {not_known('entry', name, sorted(names))}")
    return {name: value for name, value in given.items() if name != "about"}


def _block(file: Path, given: dict[str, Any]) -> PlanBlock:
    for name in ("base", "vary"):
        if not isinstance(given.get(name, {}), dict):
            raise MastError(f"{file}: {name}: expected settings by name, got {given[name]!r}.")
    if "cpu_s" in given:
        given["cpu_s"] = typed(f"{file}: cpu_s", given["cpu_s"], 0.0, MastError)
    for name, value in given.get("vary", {}).items():
        if not isinstance(value, list):
            raise MastError(f"{file}: vary: {name}: expected a list of values, got {value!r}.")
    seeds = given.get("seeds", [0])
    if not isinstance(seeds, list) or not all(type(s) is int and s >= 0 for s in seeds):
        raise MastError(f"{file}: seeds: expected a list of whole numbers from 0, got {seeds!r}.")
    for name in ("steps", "episodes"):
        if name in given:
            given[name] = typed(f"{file}: {name}", given[name], 1, MastError)
            if given[name] < 1:
                raise MastError(f"{file}: {name}={given[name]}: expected a whole number from 1.")
    return PlanBlock(**given)


def list_plan(planned: Sequence[PlannedRun], store: Path) -> str:
    """Print the command of each run to do; return how many there are, and how long they take."""
    done = _finished_keys(store)
    left = [one for one in planned if one.run.identity().key not in done]
    for one in left:
        print(one.command)
    hours, finished = sum(one.cpu_s for one in left) / 3600, len(planned) - len(left)
    return f"{len(left)} runs to do, about {hours:.1f} h of processor time; {finished} finished"


def wanted_runs(planned: Sequence[PlannedRun], store: Path | None) -> list[ValueTraining]:
    """The runs of a plan; of a store those that it has finished.

    Raises:
        MastError: One cannot be done on this machine.
    """
    keys = () if store is None else _finished_keys(store)
    runs = [one.run for one in planned if store is None or one.run.identity().key in keys]
    for config in dict.fromkeys(run.config for run in runs):
        check_run(config)
    return runs


def _finished_keys(store: Path) -> set[str]:
    """Keys of the finished runs of a store, which need not be there."""
    if not store.exists():
        return set()
    with Store.open(str(store), create=False) as opened:
        return {run.key for run in opened.runs(kind="mast") if run.status is RunStatus.FINISHED}


def sweep_rows(runs: Sequence[ValueTraining], rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A row for each configuration: mean, lowest and highest return, costs, all returns.

    Args:
        runs: The runs.
        rows: Their results, of :func:`mast.running.run_row`.
    """
    groups: dict[str, list[tuple[MastConfig, Mapping[str, Any]]]] = {}
    for run, row in zip(runs, rows, strict=True):
        name = json.dumps([run.config.plain(), run.budget, run.episodes], sort_keys=True)
        groups.setdefault(name, []).append((run.config, row))
    return [_row(group[0][0], [row for _, row in group]) for group in groups.values()]


def _row(config: MastConfig, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    returns = [row["return"] for row in rows]
    return {
        "task": config.task, "algorithm": config.algorithm, "arm": config.label,
        "settings": config.differing.removeprefix(", "), "seeds": len(rows),
        "return": float(np.mean(returns)), "lowest": min(returns), "highest": max(returns),
        "q_gap": median_of(rows, "q_gap"), "weights": rows[0]["weights"],
        "cpu_s": float(np.median([row["train_cpu_s"][-1] for row in rows])),
        "returns": " ".join(f"{value:.6g}" for value in returns),
    }  # fmt: skip


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV; figures have six digits."""
    with atomic_write(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
