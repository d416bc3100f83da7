"""NSGA-II over the designs of an exploration: every generation is a batch of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mapper.explore.design_figures import figures_of
from mapper.explore.design_space import DesignSpace, SweptChip
from mapper.explore.exploration import (
    Exploration,
    ExplorePlan,
    NoDesignError,
    RunAll,
    results_of,
)
from mapper.explore.mapping_pool import NetworkPoint
from mapper.explore.nsga2_draw import draw_by_nsga2
from marl_runs import Store

WORST = 1e300
"""Objective of a design that cannot run the network."""


class _StoppedError(Exception):
    """The person asked to stop."""


def draw_generations(
    plan: ExplorePlan, space: DesignSpace, designs: int, store: Store, run_all: RunAll
) -> list[SweptChip] | None:
    """Designs by NSGA-II, all of them mapped; None where the person asked to stop.

    What a generation is compared by are the agents' proposals; proofs come afterwards. The same
    seed draws the same designs, and those that the store holds are not mapped again.
    """

    def evaluate(swept: Sequence[SweptChip]) -> list[tuple[Sequence[float], float]]:
        areas = _areas(plan, swept)
        chips = [one.chip for one in swept]
        runs = {chip: plan.run_of(chip) for chip in chips if _over(areas[chip], plan.max_area) == 0}
        if run_all(list(runs.values())).stopped:
            raise _StoppedError
        stored = results_of(plan, store)
        return [
            _objectives(
                plan,
                chip,
                areas[chip],
                stored.get(runs[chip].identity().key, {}) if chip in runs else {},
            )
            for chip in chips
        ]

    try:
        return draw_by_nsga2(space, designs, plan.seed, len(plan.objectives), evaluate)
    except _StoppedError:
        return None


def _areas(plan: ExplorePlan, swept: Sequence[SweptChip]) -> dict[Any, float]:
    try:
        known = Exploration.of(plan, swept).designs
    except NoDesignError:
        known = []
    return {one.chip: WORST for one in swept} | {design.chip: design.area for design in known}


def _over(value: float, most: float | None) -> float:
    """By what share a value is above its limit; 0 where it keeps it."""
    return 0.0 if most is None else max(0.0, value / most - 1)


def _objectives(
    plan: ExplorePlan, chip: Any, area: float, result: Mapping[str, Any]
) -> tuple[list[float], float]:
    """Objectives of a design, and by how much it breaks the limits."""
    if "latency" not in result:
        return [WORST] * len(plan.objectives), 1.0 + _over(area, plan.max_area)
    point = NetworkPoint(result["latency"], result["energy"], ())
    figures = figures_of(chip, area, point)
    over = _over(area, plan.max_area) + _over(figures["power"], plan.max_power)
    return [figures[name] for name in plan.objectives], over
