"""Exhaustive search: the true optimum of a space small enough to finish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.enumeration import Enumeration, compute_cycles
from baselines.searcher import BaseSearcher, Capabilities, SearcherError
from cost_models import Chain, MappingBatch, Symmetry, capabilities_of
from maestro_env import Problem, figure_bounds
from marl_common import FloatArray, IntArray

LISTED = 1 << 15
"""Actions of a chain at a time."""


@dataclass(frozen=True)
class ExhaustiveConfig:
    """Options of :class:`Exhaustive`.

    Args:
        batch: Most samples a call to the cost model.
        max_structures: Most structures (tiles, parallel dimensions, cluster size) to walk through.
        bands: Structures are visited in bands of their lower bound, as multiples of the
            objective's: a good mapping found early rules out the later bands.
    """

    batch: int = 1 << 16
    max_structures: int = 200_000_000
    bands: tuple[float, ...] = (1.05, 1.5, 3.0, 10.0, float("inf"))

    def __post_init__(self) -> None:
        check_fields(self, ("batch", "max_structures"))
        if not self.bands or self.bands[-1] != float("inf"):
            raise ValueError(f"bands: got {self.bands!r}, expected the last to be inf")


class Exhaustive(BaseSearcher):
    """Every mapping but those that cannot be better than one that was visited.

    On a chain that is each loop nest once. Of two levels left out are, under every cost model,
    orders that differ in loops of one iteration only; under those that count the loop nest
    (`exact`) also structures that differ only in idle PEs, structures whose busiest PE alone takes
    too long, and the orders of a structure that does not fit the buffers (which does not depend on
    the order).
    """

    name = "exhaustive"
    source = "enumeration with symmetry and bound pruning"
    Config = ExhaustiveConfig
    config: ExhaustiveConfig
    capabilities = Capabilities(guided=False, proves_optimum=True, enumerates=True)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        if isinstance(problem.accelerator, Chain):
            self._list_all(problem)
            return
        exact = capabilities_of(problem.cost_model).symmetry is Symmetry.NEST
        enumeration = Enumeration(problem.space, nest=exact)
        self._check_size(enumeration.structures, "structures", "'cluster_size': [16]")
        if not exact:
            for actions, mappings in enumeration.chunks():
                self._visit(problem, enumeration, actions, mappings, exact)
            return
        low = 0.0
        for band in self.config.bands:
            inside = _Band(problem, low, band * (problem.bound or 1.0))
            for actions, mappings in enumeration.chunks(inside):
                self._visit(problem, enumeration, actions, mappings, exact)
            low = inside.high
            if low >= problem.best_value:
                return

    def _list_all(self, problem: Problem) -> None:
        """Every action of a chain that is its own canonical one, each loop nest once."""
        space = problem.space
        self._check_size(space.size, "actions", "'LEVEL.axis0.units': [8]")
        dedup = Dedup(problem)
        for low in range(0, space.size, LISTED):
            places = np.arange(low, min(low + LISTED, space.size))
            actions = np.stack(np.unravel_index(places, space.nvec), axis=1).astype(np.int64)
            own = (space.canonical(actions) == actions).all(axis=1)
            actions = actions[own]
            self._evaluate(problem, actions[dedup.fresh(actions)])

    def _check_size(self, size: int, what: str, only: str) -> None:
        if size > self.config.max_structures:
            raise SearcherError(
                f"searcher 'exhaustive': the space has {size:.3g} {what}, expected at most "
                f"{self.config.max_structures:.3g}; narrow it, as with tiles='divisors' or "
                f"only={{{only}}}"
            )

    def _visit(
        self,
        problem: Problem,
        enumeration: Enumeration,
        actions: IntArray,
        mappings: MappingBatch,
        exact: bool,
    ) -> None:
        """Evaluate the first order of some structures, then the others of those that fit."""
        first = enumeration.expand(actions, mappings, first=True)
        if len(first) == 0:
            return
        values = self._evaluate(problem, first)
        if exact and not problem.limits:
            first = first[np.isfinite(values)]
        rest = enumeration.expand(first, problem.space.decode(first), first=False)
        self._evaluate(problem, rest)

    def _evaluate(self, problem: Problem, actions: IntArray) -> FloatArray:
        """``(B,)`` values of actions, so many at a time as the options say."""
        starts = range(0, len(actions), self.config.batch)
        parts = (actions[start : start + self.config.batch] for start in starts)
        return np.concatenate([np.empty(0), *(problem.evaluate(part).values for part in parts)])


@dataclass(frozen=True)
class _Band:
    """Selects mappings whose lower bound is in a range and below the best value so far."""

    problem: Problem
    low: float
    high: float

    def __call__(self, mappings: MappingBatch) -> NDArray[np.bool_]:
        bounds = _bounds(self.problem, mappings)
        below = min(self.high, self.problem.best_value)
        return np.asarray((bounds >= self.low) & (bounds < below))


def _bounds(problem: Problem, mappings: MappingBatch) -> FloatArray:
    """``(B,)`` lower bounds of the objective, whatever the loop orders."""
    layer, accelerator = problem.layer, problem.accelerator
    pes = mappings.pes(accelerator.num_pes)
    extents = np.array(layer.extents, dtype=np.int64)
    cycles = compute_cycles(extents, mappings, pes, accelerator.simd_lanes)
    figures = figure_bounds(problem.cost_model, layer, accelerator, int(pes.min()))
    bounds = np.ones(len(mappings))
    for figure in problem.objective.figures:
        if figure == "latency_cycles":
            bounds = bounds * np.maximum(cycles, figures[figure])
        else:
            bounds = bounds * figures.get(figure, 0.0)
    return bounds * (1 - 1e-12)  # rounding must not rule out an equal
