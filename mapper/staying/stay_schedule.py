"""What stays, by dynamic programming over the nodes in the order in which they run.

A state is the set of tensors that stay from one node to the next. Where a network has so many at a
time that there are too many sets, those with the highest bounds are left out, and the least of
these bounds counts in the answer's.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mapper.staying.rooms import TensorRoom

MOST_STATES = 512
"""Sets of tensors that are kept after a node."""
Stays = frozenset[int]
"""Rooms, by their number, that are taken."""
StepCost = Callable[[int, Stays], float]
"""The least or the known cost of a node, by the rooms that are taken during it."""


@dataclass(frozen=True)
class StaySchedule:
    """A choice of what stays.

    Args:
        value: Its cost.
        bound: No choice costs less.
        stays: During each node, the rooms that are taken.
    """

    value: float
    bound: float
    stays: tuple[Stays, ...]


def schedule(
    steps: int,
    rooms: Sequence[TensorRoom],
    capacity_bits: float,
    cost: StepCost,
    least: Callable[[int], float],
) -> StaySchedule:
    """The choice of what stays with the least cost.

    Args:
        steps: Number of nodes.
        rooms: What may stay.
        capacity_bits: What there is for tensors and tiles together.
        cost: Cost of a node; inf where it cannot run so.
        least: What a node costs at least, whatever is taken.
    """
    begins: list[list[int]] = [[] for _ in range(steps)]
    for number, room in enumerate(rooms):
        begins[room.first].append(number)
    ahead = [0.0] * (steps + 1)
    for place in range(steps - 1, -1, -1):
        ahead[place] = ahead[place + 1] + least(place)
    left_out = math.inf
    paths: list[dict[Stays, tuple[Stays, Stays]]] = []
    values: dict[Stays, float] = {frozenset(): 0.0}
    for place in range(steps):
        after: dict[Stays, float] = {}
        came: dict[Stays, tuple[Stays, Stays]] = {}
        for before, value in values.items():
            for taken in _choices(before, begins[place], rooms, place, capacity_bits):
                total = value + cost(place, taken)
                if math.isinf(total):
                    continue
                left = frozenset(n for n in taken if rooms[n].last > place)
                if total < after.get(left, math.inf):
                    after[left], came[left] = total, (before, taken)
        if len(after) > MOST_STATES:
            kept = heapq.nsmallest(MOST_STATES, after, key=lambda one: (after[one], sorted(one)))
            dropped = min(after[one] for one in after.keys() - set(kept))
            left_out = min(left_out, dropped + ahead[place + 1])
            after = {one: after[one] for one in kept}
        values = after
        paths.append(came)
    if not values:
        return StaySchedule(math.inf, left_out, ())
    value = values[frozenset()]
    stays: list[Stays] = []
    at: Stays = frozenset()
    for came in reversed(paths):
        at, taken = came[at]
        stays.append(taken)
    return StaySchedule(value, min(value, left_out), tuple(reversed(stays)))


def _choices(
    before: Stays, begin: Sequence[int], rooms: Sequence[TensorRoom], place: int, capacity: float
) -> list[Stays]:
    """The sets that may be taken during a node: those before it, and some that begin here."""
    found = [before]
    for number in begin:
        found += [taken | {number} for taken in found]
    return [one for one in found if sum(rooms[n].taken(place) for n in one) <= capacity]
