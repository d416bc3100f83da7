"""The proof as a searcher: the optimum of the whole space, or how far from it the answer may be."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from baselines.optimal.proof import LEAST_MEMORY, Proof, ProofProgress
from baselines.registry import load
from baselines.searcher import BaseSearcher, Capabilities, SearcherError, SearchResult
from cost_models import ChainMapping, Mapping
from maestro_env import BudgetExhausted, Problem

FIRST_SAMPLES = 3000
"""Samples of the search for a first value."""
Recorded = tuple[Any, Any] | None


@dataclass(frozen=True)
class OptimalConfig:
    """Options of :class:`Optimal`.

    Args:
        gap: Stop when the value is proven to be at most this share above the optimum.
        timeout: Stop the proof after so much wall time [s]; 0 gives the first value and the bound
            of the whole space; None for no end.
        threads: Threads of the proof; the answer does not depend on them.
        max_memory: Memory of the proof [B]; None for its default.
    """

    gap: float = 0.0
    timeout: float | None = None
    threads: int = 1
    max_memory: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.gap < 1:
            raise ValueError(f"gap: got {self.gap!r}, expected a share from 0 to below 1")
        if self.timeout is not None and not _number(self.timeout, 0):
            raise ValueError(f"timeout: got {self.timeout!r}, expected seconds of at least 0")
        if self.threads < 1:
            raise ValueError(f"threads: got {self.threads!r}, expected at least 1")
        if self.max_memory is not None and not _number(self.max_memory, LEAST_MEMORY):
            raise ValueError(
                f"max_memory: got {self.max_memory!r}, expected bytes, at least {LEAST_MEMORY:,}"
            )


def _number(value: Any, least: float) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= least


class Optimal(BaseSearcher):
    """A first value, and then branch and bound over the whole space.

    Samples are those of the first value, and the proven mapping as the last one; what the proof
    itself looks at is no sample.
    """

    name = "optimal"
    source = "branch and bound over boxes of tiles with the cost model's own lower bounds"
    Config = OptimalConfig
    config: OptimalConfig
    capabilities = Capabilities(proves_optimum=True, any_depth=True)
    most_boxes: int | None = None
    """On a chip that is a list of levels, boxes after which a proof without a timeout ends."""
    on_progress: Callable[[ProofProgress], None] | None = None
    """Called while the proof goes on; what it raises ends the search."""

    def search(
        self, problem: Problem, budget: int, seed: int, recorded: Recorded = None
    ) -> SearchResult:
        """See :meth:`Searcher.search`.

        Raises:
            SearcherError: The cost model offers no bounds for this problem.
        """
        from baselines.optimal.proving import can_prove  # whoever asks needs no solver

        self.check_depth(problem)
        reason = can_prove(problem)
        if reason is not None:
            raise SearcherError(f"searcher {self.name!r}: {reason}")
        self._first_value(problem, min(FIRST_SAMPLES, budget - 1), seed, recorded)
        problem.extend(budget)
        best = problem.best_action
        start = None if best is None else problem.space.decode(best[None])[0]
        proof = self.prove(problem, start)
        if proof.mapping is not None and proof.value < problem.best_value:
            with contextlib.suppress(BudgetExhausted):
                problem.evaluate(problem.action_of(proof.mapping))
        return SearchResult.of(problem, proof.proven, proof.bound, proof)

    def prove(self, problem: Problem, start: Mapping | ChainMapping | None) -> Proof:
        """The proof with this searcher's options; the problem's counters stay as they are."""
        from baselines.optimal.proving import prove

        config = self.config
        return prove(
            problem,
            start=start,
            gap=config.gap,
            timeout=config.timeout,
            threads=config.threads,
            max_memory=config.max_memory,
            boxes=self.most_boxes,
            progress=self.on_progress,
        )

    def _first_value(self, problem: Problem, samples: int, seed: int, recorded: Recorded) -> None:
        """Spend samples on a value to start from; none where the problem has no mapping."""
        if samples < 1 or problem.why_empty() is not None:
            problem.start(max(samples, 1), recorded)
            return
        load("ga").search(problem, samples, seed, recorded)

    def _run(self, problem: Problem, rng: Any) -> None:
        raise NotImplementedError("search() does all")
