"""The instances of a chain's levels, and which of them share a transfer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product
from operator import mul

from cost_models.exact.elements import Elements
from cost_models.exact.nest import OUTPUT, NestLevel

Unit = int
"""An instance of a level: those of an instance around it follow on each other."""
Place = tuple[int, ...]
"""Where an instance lies along each dimension of the fan-out that it belongs to."""


class Instances:
    """All instances of a chain's levels.

    Args:
        levels: The levels, DRAM the first, the MACs the last.
        coupled: Dimensions of input, filter and output.
    """

    def __init__(self, levels: Sequence[NestLevel], coupled: Sequence[tuple[int, ...]]) -> None:
        self._levels, self._coupled = levels, coupled
        self._places: list[list[Place]] = [
            list(product(*map(range, level.units))) for level in levels
        ]
        self._count = list(accumulate(map(len, self._places), mul))
        self._groups = cache(self._find_groups)

    def inside(self, level: int) -> int:
        """Instances of a level within one of the level outside it."""
        return len(self._places[level])

    def around(self, unit: Unit, level: int, q: int) -> Unit:
        """The instance of `q` that an instance of `level` lies in."""
        return unit // (self._count[level] // self._count[q])

    def shared(
        self, tensor: int, level: int, q: int, sets: dict[Unit, Elements], whole: bool = False
    ) -> tuple[int, int]:
        """Elements that cross the ports of all instances of `q`, and that of the first.

        Units of a group have distinct elements sent once: those that differ along dimensions with
        multicast (sums: with reduction) alone. With `whole`, units with different tiles are groups
        of their own, and the first of those with the same tile stands for them.
        """
        groups_of, first = self._groups(tensor, level, q, whole)
        groups: dict[int, Elements] = {}
        for unit, elements in sets.items():
            group = groups_of[unit]
            if elements and group >= 0:
                groups[group] = groups.get(group, 0) | elements
        sizes = {group: some.bit_count() for group, some in groups.items()}
        return sum(sizes.values()), sum([n for group, n in sizes.items() if group < first])

    def _find_groups(self, tensor: int, level: int, q: int, whole: bool) -> tuple[list[int], int]:
        """The group of each instance of a level, -1 for none; how many the first of `q` has."""
        groups, first = list(range(self._count[q])), 1
        for m in range(q + 1, level + 1):
            spec = self._levels[m]
            flags = spec.reduce if tensor == OUTPUT else spec.multicast
            split = [
                not shares or (whole and d in self._coupled[tensor])
                for d, shares in enumerate(flags)
            ]
            size = math.prod(n for n, own in zip(spec.units, split, strict=True) if own)
            groups = [
                -1 if group < 0 else _group(group * size, place, spec, split, whole)
                for group in groups
                for place in self._places[m]
            ]
            first *= size
        return groups, first


def _group(base: int, place: Place, spec: NestLevel, split: list[bool], whole: bool) -> int:
    """The group of a place among the units of a level, counted from `base`; -1 for none."""
    index = 0
    for at, n, own in zip(place, spec.units, split, strict=True):
        if own:
            index = index * n + at
        elif whole and at:
            return -1
    return base + index
