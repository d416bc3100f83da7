"""Batches of costs: of costs whose figures are arrays of many mappings, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch, FloatArray, LazyColumns
from cost_models.infeasible import Infeasible
from marl_common import IntArray


class CostGroups(NamedTuple):
    """Mappings whose costs follow from their counts together.

    Args:
        costs: Gives a cost for each group, whose figures are arrays, or numbers where the batch is
            one mapping; called once at most, and never for one that is infeasible.
        rows: The rows of each group.
        named: A cost that has all names of accesses, details and levels.
    """

    costs: Callable[[], list[Cost]]
    rows: Sequence[IntArray | slice]
    named: Cost


def in_columns(
    groups: CostGroups,
    reasons: NDArray[np.int8],
    why: Callable[[int], Infeasible],
    one: Callable[[int], Cost],
    counts: LazyColumns[Any] | None = None,
    latency: IntArray | None = None,
) -> CostBatch:
    """The batch of such costs; a figure is put together when it is looked at.

    Args:
        groups: The costs.
        reasons: ``(B,)`` reason codes, 0 = feasible.
        why: Builds the report of an infeasible row.
        one: Builds the cost of one row.
        counts: Integers by name, ``(B,)`` each.
        latency: ``(B,)`` cycles where they are counted; then nothing is priced for them.
    """
    failed = reasons != 0
    known: list[Cost] = []

    def column(of: Callable[[Cost], Any]) -> FloatArray:
        if failed.all():
            return np.full(len(failed), inf)
        if not known:
            known.extend(groups.costs())
        found = np.empty(len(failed))
        with np.errstate(divide="ignore", invalid="ignore"):
            for cost, rows in zip(known, groups.rows, strict=True):
                found[rows] = of(cost)
        found[failed] = inf
        return found

    def figure(name: str) -> FloatArray:
        if name == "latency_cycles" and latency is not None:
            return np.where(failed, inf, latency)
        return column(lambda cost: getattr(cost, name))

    def accesses(tensor: str) -> LazyColumns[FloatArray]:
        kinds = tuple(named.accesses[tensor])
        return LazyColumns(kinds, lambda kind: column(lambda c: c.accesses[tensor][kind]))

    named = groups.named
    return CostBatch(
        reason=reasons,
        figures=LazyColumns(FIGURES, figure),
        accesses=LazyColumns(TENSORS, accesses),
        detail=LazyColumns(tuple(named.detail), lambda name: column(lambda c: c.detail[name])),
        priced=named.priced,
        counts={} if counts is None else counts,
        explain=why,
        one=one,
        held=LazyColumns(
            tuple(named.by_level), lambda name: column(lambda c: c.by_level[name].bytes)
        ),
    )


def reason_of(cost: Cost) -> Infeasible:
    """Why there is no cost."""
    assert cost.infeasible is not None
    return cost.infeasible


def stacked(costs: list[Cost]) -> CostBatch:
    """Costs that were found one by one, as a batch."""
    reasons = [0 if cost.infeasible is None else int(cost.infeasible.code) for cost in costs]
    return CostBatch(
        reason=np.array(reasons, np.int8),
        figures=LazyColumns(
            FIGURES, lambda name: np.array([getattr(cost, name) for cost in costs])
        ),
        explain=lambda row: reason_of(costs[row]),
        one=costs.__getitem__,
        held=LazyColumns(
            tuple(next((c.by_level for c in costs if c.by_level), {})),
            lambda name: np.array([c.by_level[name].bytes if c.by_level else inf for c in costs]),
        ),
    )
