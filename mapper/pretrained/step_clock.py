"""Cycles of a finished mapping, step by step, from how much each tensor moves (compiled).

Tensors move together: where a loop advances, all those move whose innermost loop that iterates lies
there or further inside. So the steps of a level are of few kinds, each as long as the longest of
what it works and transfers.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import compiled, inner_function
from mapper.pretrained.tables import D
from mapper.pretrained.turns import INNER, OUTER

OUTPUT: Final = 2
IN: Final = 0
OUT: Final = 1


class Transfers(NamedTuple):
    """Work space of one mapping.

    Args:
        last: ``(2, 3)`` place of the innermost loop of each level that iterates and moves a tensor,
            -1 where there is none.
        each: ``(2, 3)`` elements of a transfer of each tensor, over the off-chip boundary and over
            the NoC.
        again: ``(2,)`` share of the outputs' transfers that are partial sums on their way back.
    """

    last: NDArray[np.int64]
    each: NDArray[np.float64]
    again: NDArray[np.float64]


@compiled
def no_transfers() -> Transfers:
    """Work space."""
    return Transfers(np.empty((2, 3), np.int64), np.empty((2, 3)), np.empty(2))


@inner_function
def innermost(tensor: int, level: int, orders: Any, steps: Any, coupling: Any) -> int:
    """Place of the innermost loop of a level that iterates and moves the tensor, or -1."""
    for place in range(D - 1, -1, -1):
        d = orders[level, place]
        if coupling[tensor, d] and steps[level, d] > 1:
            return place
    return -1


@inner_function
def times_through(level: int, last: int, orders: Any, steps: Any) -> float:
    """Steps of the loops of a level up to a place."""
    times = 1.0
    for place in range(last + 1):
        times *= steps[level, orders[level, place]]
    return times


@inner_function
def fill_transfers(
    transfers: Transfers, orders: Any, steps: Any, coupling: Any, flows: Any, output: float
) -> None:
    """What moves in one transfer of each tensor; `last` is filled in already.

    Args:
        transfers: Gets the sizes of transfers.
        orders: ``(2, D)`` loop orders.
        steps: ``(2, D)`` steps of the loops.
        coupling: ``(3, D)`` which tensor depends on which dimension.
        flows: ``(2 or more, 3)`` elements that move over both boundaries in all.
        output: Elements of the output.
    """
    outer_steps = times_through(OUTER, D - 1, orders, steps)
    last = transfers.last
    for tensor in range(3):
        times = times_through(OUTER, last[OUTER, tensor], orders, steps)
        transfers.each[OUTER, tensor] = flows[OUTER, tensor] / times
        if last[INNER, tensor] >= 0:
            times = outer_steps * times_through(INNER, last[INNER, tensor], orders, steps)
        transfers.each[INNER, tensor] = flows[INNER, tensor] / times
    for level in range(2):
        transfers.again[level] = 1.0 - output / flows[level, OUTPUT]


@inner_function
def transfer_cycles(
    level: int, inner: int, outer: int, transfers: Transfers, bandwidth: Any
) -> float:
    """Cycles of what moves over a boundary as a loop advances.

    Args:
        level: The boundary: `OUTER` is the off-chip one, `INNER` the NoC.
        inner: Tensors move whose innermost inner loop is at this place or further in; `D`: none.
        outer: Those too whose innermost outer loop is at this place or further in; -1 as all
            begins, when inputs and filters are there already; `D`: none.
        transfers: What moves.
        bandwidth: ``(2, 2)`` elements a cycle.
    """
    arriving = 0.0
    leaving = 0.0
    for tensor in range(3):
        if transfers.last[INNER, tensor] < inner and transfers.last[OUTER, tensor] < outer:
            continue
        size = transfers.each[level, tensor]
        if tensor == OUTPUT:
            leaving = size
            arriving += transfers.again[level] * size
        elif outer >= 0:
            arriving += size
    return max(
        np.ceil(arriving / bandwidth[level, IN] - 1e-6),
        np.ceil(leaving / bandwidth[level, OUT] - 1e-6),
    )


@inner_function
def stepwise_cycles(
    orders: Any, steps: Any, work: float, transfers: Transfers, bandwidth: Any
) -> float:
    """Cycles after the first fills.

    Args:
        orders: ``(2, D)`` loop orders.
        steps: ``(2, D)`` steps of the loops.
        work: Compute cycles of a step.
        transfers: What moves.
        bandwidth: ``(2, 2)`` elements a cycle over both boundaries, in and out.
    """
    rest = 0.0  # of an outer step, without its first inner one
    before = 1.0
    for place in range(D):
        count = steps[INNER, orders[INNER, place]]
        if count > 1:
            moved = transfer_cycles(INNER, place, D, transfers, bandwidth)
            rest += before * (count - 1) * max(work, moved)
        before *= count
    total = 0.0
    before = 1.0
    for place in range(-1, D):
        count = 2 if place < 0 else steps[OUTER, orders[OUTER, place]]
        if count == 1:
            continue
        first = max(work, transfer_cycles(INNER, 0, place, transfers, bandwidth))
        moved = transfer_cycles(OUTER, D, place, transfers, bandwidth)
        total += before * (count - 1) * max(first + rest, moved)
        before *= 1 if place < 0 else count
    return total
