"""One searcher on one problem with one budget and one seed, as an experiment of the runner."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, ClassVar

import baselines
from cost_models import FIGURES
from maestro_env import Objective, Problem
from mapper.search.carry import Carry
from mapper.search.problem_spec import ProblemSpec
from mapper.search.watching import Ends, OnBatch, watched
from marl_common import engineering, files_of, percent
from marl_runs import Context, Experiment, MetricBoard

if TYPE_CHECKING:
    from baselines import Proof, ProofProgress, SearchResult

KIND = "search"
WARM_UP_CAPPED = 8
"""Samples of a warm-up of searchers whose own cost grows fast (those with a cap on samples)."""
FILES = ("checkpoint", "warm_start", "shared_policy")
"""Options that name files which a search continues from; its warm-up must not touch them."""

_warm: set[tuple[str, str]] = set()
"""Pairs of method and cost model that this process has imported already."""


@dataclass(frozen=True)
class SearchRun(Experiment):
    """One search.

    Args:
        problem: What is searched.
        method: Name of a searcher.
        budget: Samples it may spend.
        seed: Its seed.
        options: Options of the searcher that are not its defaults.
        carry: What it takes over from earlier searches of its network.
        idle: Samples in a row without a lower value that end it; None for no such end.
        timeout: Wall time that ends it [s]; None likewise. A proof has an option of its own.
        log: ``"tensorboard:FOLDER"`` or ``"mlflow:FOLDER"``, where its best value is drawn while it
            runs; None for nowhere.
    """

    kind: ClassVar[str] = KIND
    problem: ProblemSpec
    method: str
    budget: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    carry: Carry | None = None
    idle: int | None = None
    timeout: float | None = None
    log: str | None = None

    @property
    def label(self) -> str:
        """What tables call the method, such as ``ga`` or ``ga:population=50``."""
        parts = [f"{key}={value}" for key, value in self.options.items()]
        if self.carry is not None:
            parts.append(f"carry={self.carry.mode}")
        return ":".join([self.method, *parts])

    @property
    def name(self) -> str:
        """Such as ``ga on mobilenetv2.2, edp, exact on edge, seed 3``."""
        return name_of(self.label, self.problem, self.seed)

    @property
    def after(self) -> Sequence[str]:
        """See :class:`Experiment`."""
        return () if self.carry is None else [search.key for search in self.carry.earlier]

    @property
    def config(self) -> dict[str, Any]:
        """The searcher's whole config, defaults included."""
        return _config(self.method, json.dumps(dict(self.options)))

    @property
    def proves(self) -> bool:
        """Whether the cost model offers the bounds that a proof needs."""
        return baselines.can_prove(self.problem.build()) is None

    @cached_property
    def open_ended(self) -> bool:
        """Whether it proves, and so ends before its samples are spent."""
        return (
            self.proves
            and baselines.prover_of(baselines.load(self.method, **self.options)) is not None
        )

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`; a default that changes makes another run."""
        spec: dict[str, Any] = {
            "problem": self.problem.to_dict(),
            "method": self.method,
            "options": dict(self.options),
            "label": self.label,
            "config": self.config,
            **files_of(self.options),
        }
        if self.idle is not None:
            spec["idle"] = self.idle
        if self.timeout is not None:
            spec["timeout"] = self.timeout
        return spec if self.carry is None else spec | {"carry": self.carry.spec()}

    def prepare(self) -> None:
        """Import what the search needs, once a process, by a search that is not kept.

        So the run's processor time is that of the search, whichever run comes first.
        """
        if (self.method, self.problem.cost_model) in _warm:
            return
        problem = self.problem.build()
        with contextlib.suppress(Exception):  # a fault shows up, and is recorded, in the run itself
            options = {k: v for k, v in self.options.items() if k not in FILES}
            searcher = baselines.load(self.method, **options)
            capped = searcher.capabilities.max_samples is not None
            samples = WARM_UP_CAPPED if capped else searcher.capabilities.warm_up
            searcher.search(problem, min(self.budget, samples), self.seed)
        _warm.add((self.method, self.problem.cost_model))

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the user should know before the search, a sentence each."""
        known = getattr(baselines.load(self.method, **self.options), "doubts", None)
        return known(problem) if known else ()

    def standing(self, best: float) -> str:
        """See :meth:`Experiment.standing`."""
        return f"best {engineering(best, Objective.parse(self.problem.objective).unit, digits=4)}"

    def run(self, context: Context) -> dict[str, Any]:
        """Search, recording every sample; whatever ends it, the best so far is its result.

        A problem that has no mapping is not searched: its result says why, under ``empty``.

        Only the samples of a search that enumerates the space are not kept: they may be hundreds of
        millions, and the space says what they are.
        """
        problem = self.problem.build()
        empty = problem.why_empty()
        if empty is not None:
            return _describe(problem) | {"empty": empty}
        options = dict(self.options)
        if self.carry is not None:
            options |= self.carry.options(context, self.problem.layer)
        searcher = baselines.load(self.method, **options)
        if searcher.capabilities.enumerates:
            problem.on_evaluate = lambda _actions, _evaluation: context.progress(
                problem.samples,
                problem.best_value,
                infeasible=problem.samples - problem.feasible_samples,
            )
        else:
            problem.on_evaluate = lambda actions, looked: context.record(actions, looked.values)
        reached: list[ProofProgress] = []
        prover = baselines.prover_of(searcher)
        if prover is not None:

            def look(step: ProofProgress) -> None:
                reached[:] = [step]
                if isfinite(step.gap):
                    proven = f"within {percent(step.gap)} of" if step.gap else "at"
                    context.note = f"proof: {proven} the optimum"
                context.progress(problem.samples, step.value)

            prover.on_progress = look

        def so_far(found: SearchResult | None = None) -> dict[str, Any]:
            result = _describe(problem)
            result["samples_kept"] = context.recorded == problem.samples
            result["proves_optimum"] = found is not None and found.proven
            proof = next(iter(reached), None) if found is None else found.proof
            if proof is not None:
                result["proof"] = proof_values(proof)
            if self.carry is not None:
                result["config"] = asdict(searcher.config)
            return result

        context.so_far = so_far
        ends = Ends(self.idle, self.timeout)
        with MetricBoard(self.log, self.name) as board, watched(problem, ends, _drawn(board)):
            return so_far(searcher.search(problem, self.budget, self.seed))


def _drawn(board: MetricBoard) -> OnBatch:
    """Draws every lower value at the sample that found it."""
    drawn = 0

    def draw(problem: Problem) -> None:
        nonlocal drawn
        for n, value in problem.improvements[drawn:]:
            board.add("best", value, n)
        drawn = len(problem.improvements)

    return draw


def name_of(label: str, spec: ProblemSpec, seed: int) -> str:
    """What tables call a search: method, problem and seed."""
    return (
        f"{label} on {spec.layer_name}, {spec.objective}, "
        f"{spec.cost_model} on {spec.accelerator_name}, seed {seed}"
    )


@lru_cache
def _config(method: str, options: str) -> dict[str, Any]:
    """The whole config of a searcher; finding one takes milliseconds, and tables ask often."""
    return asdict(baselines.load(method, **json.loads(options)).config)


def _describe(problem: Problem) -> dict[str, Any]:
    """What a search's counters hold, and the figures of the best mapping."""
    result: dict[str, Any] = {
        "samples": problem.samples,
        "best_value": problem.best_value,
        "unit": problem.objective.unit,
        "feasible_samples": problem.feasible_samples,
        "curve": [[n, value] for n, value in problem.improvements],
        "bound": problem.bound,
    }
    if problem.best_action is None:
        return result
    looked = problem.look(problem.best_action[None])
    cost = looked.costs[0]
    figures = [(name, getattr(cost, name)) for name in FIGURES]
    return result | {
        "best_action": problem.best_action.tolist(),
        "best_mapping": looked.mappings[0].to_dict(),
        "best_figures": {name: value for name, value in figures if not isnan(value)},
    }


def proof_values(proof: Proof | ProofProgress) -> dict[str, Any]:
    """A proof as a stored result keeps it, or one that was stopped on its way."""
    if isinstance(proof, baselines.ProofProgress):
        status, boxes, evaluated = "interrupted", proof.boxes, None
    else:
        status, boxes, evaluated = proof.status, proof.counts.boxes, proof.counts.evaluated
    return {
        "status": status,
        "value": proof.value,
        "bound": proof.bound,
        "gap": proof.gap,
        "boxes": boxes,
        "evaluated": evaluated,
        "seconds": proof.seconds,
        "mapping": None if proof.mapping is None else proof.mapping.to_dict(),
    }


def counters_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The counters of a problem, see :meth:`maestro_env.Problem.load_state_dict`, of a result."""
    best = result.get("best_action")
    return {
        "samples": result["samples"],
        "feasible_samples": result["feasible_samples"],
        "best_value": float("inf") if best is None else result["best_value"],
        "best_action": best,
        "improvements": result["curve"],
    }
