"""What stays, by dynamic programming over the nodes in the order in which they run.

A state is the set of tensors that stay from one node to the next. Where a network has so many at a
time that there are too many sets, those with the highest bounds are left out, and the least of
these bounds counts in the answer's.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mapper.staying.rooms import Stays, TensorRoom, taken_bits

MOST_STATES = 512
"""Sets of tensors that are kept after a node."""
StepCost = Callable[[int, Stays], float]
"""The least or the known cost of a node, by the rooms that are taken during it."""


@dataclass(frozen=True)
class StaySchedule:
    """A choice of what stays.

    Args:
        value: Its cost.
        bound: No choice costs less.
        stays: During each node, the rooms that are taken.
        groups: Place of the first node and number of nodes of each group that runs as one.
    """

    value: float
    bound: float
    stays: tuple[Stays, ...]
    groups: tuple[tuple[int, int], ...] = ()


class Groups(NamedTuple):
    """Nodes that may run as one.

    Args:
        lengths: How many nodes the groups have that begin at a place.
        cost: Of the group that begins at a place and has so many nodes, by the rooms taken.
        least: What such a group costs at least, whatever is taken.
    """

    lengths: Mapping[int, Sequence[int]]
    cost: Callable[[int, int, Stays], float]
    least: Callable[[int, int], float]


NO_GROUPS = Groups({}, lambda place, length, taken: math.inf, lambda place, length: math.inf)


def schedule(
    steps: int,
    rooms: Sequence[TensorRoom],
    capacity_bits: float,
    cost: StepCost,
    least: Callable[[int], float],
    groups: Groups = NO_GROUPS,
) -> StaySchedule:
    """The choice of what stays with the least cost.

    Args:
        steps: Number of nodes.
        rooms: What may stay.
        capacity_bits: What there is for tensors and tiles together.
        cost: Cost of a node; inf where it cannot run so.
        least: What a node costs at least, whatever is taken.
        groups: Nodes that may run as one.
    """
    begins: list[list[int]] = [[] for _ in range(steps)]
    for number, room in enumerate(rooms):
        begins[room.first].append(number)
    ahead = _ahead(steps, least, groups)
    left_out = math.inf
    values: list[dict[Stays, float]] = [{} for _ in range(steps + 1)]
    came: list[dict[Stays, tuple[int, Stays, Stays]]] = [{} for _ in range(steps + 1)]
    values[0][frozenset()] = 0.0
    for place in range(steps):
        here = values[place]
        if len(here) > MOST_STATES:
            kept = heapq.nsmallest(MOST_STATES, here, key=lambda one: (here[one], sorted(one)))
            dropped = min(here[one] for one in here.keys() - set(kept))
            left_out = min(left_out, dropped + ahead[place])
            here = {one: here[one] for one in kept}
        for length in (1, *groups.lengths.get(place, ())):
            end = place + length
            for before, value in here.items():
                for taken in _choices(before, begins[end - 1], rooms, place, capacity_bits):
                    total = value + (
                        cost(place, taken) if length == 1 else groups.cost(place, length, taken)
                    )
                    left = frozenset(n for n in taken if rooms[n].last >= end)
                    if total < values[end].get(left, math.inf):
                        values[end][left], came[end][left] = total, (place, before, taken)
    if not values[steps]:
        return StaySchedule(math.inf, left_out, ())
    value = values[steps][frozenset()]
    stays, found = _path(came)
    return StaySchedule(value, min(value, left_out), stays, found)


def _ahead(steps: int, least: Callable[[int], float], groups: Groups) -> list[float]:
    """What the nodes from each place on cost at least."""
    ahead = [0.0] * (steps + 1)
    for place in range(steps - 1, -1, -1):
        ways = [ahead[place + n] + groups.least(place, n) for n in groups.lengths.get(place, ())]
        ahead[place] = min(ahead[place + 1] + least(place), *ways, math.inf)
    return ahead


def _path(
    came: Sequence[Mapping[Stays, tuple[int, Stays, Stays]]],
) -> tuple[tuple[Stays, ...], tuple[tuple[int, int], ...]]:
    """What is taken during each node, and the groups, on the way to the end."""
    stays: list[Stays] = []
    groups: list[tuple[int, int]] = []
    at: Stays = frozenset()
    end = len(came) - 1
    while end:
        place, at, taken = came[end][at]
        stays += [taken] * (end - place)
        groups += [(place, end - place)] if end - place > 1 else []
        end = place
    return tuple(reversed(stays)), tuple(reversed(groups))


def _choices(
    before: Stays, begin: Sequence[int], rooms: Sequence[TensorRoom], place: int, capacity: float
) -> list[Stays]:
    """The sets that may be taken from a place on: those before it, and some that begin."""
    found = [before]
    for number in begin:
        found += [taken | {number} for taken in found]
    return [one for one in found if taken_bits(rooms, one, place) <= capacity]
