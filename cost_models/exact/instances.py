"""What the simulator tells apart: sets of tensor elements, and the instances of a chain's levels.

A set of elements is an integer, a bit for each element: ``|`` joins, ``& ~`` takes away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, compress, product
from operator import mul

from cost_models.exact.nest import INPUT, OUTPUT, Nest, NestLevel, P, Q, R, S, Window

Tile = tuple[range, ...]
Elements = int
Unit = int
"""An instance of a level: those of an instance around it follow on each other."""
Place = tuple[int, ...]
"""Where an instance lies along each dimension of the fan-out that it belongs to."""


class Touched:
    """Elements that tiles of a nest's MACs touch.

    Args:
        nest: The nest.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        n = nest.extents
        self._windows = [
            (w, w.stride * (n[p] - 1) + w.dilation * (n[r] - 1) + 1, p, r)
            for w, (p, r) in zip(nest.windows, ((P, R), (Q, S)), strict=True)
        ]
        self._memo: list[dict[Tile, Elements]] = [{}, {}, {}]
        whole = tuple(map(range, n))
        real = [w.real or (0, size) for w, size, _, _ in self._windows]
        self._real = self._joined(INPUT, whole, [range(*rows) for rows in real])

    def of(self, tensor: int, tile: Tile) -> Elements:
        """Elements of a tensor that the MACs of a tile touch; of a box the rows between, too."""
        key = tuple([tile[d] for d in self.nest.coupled[tensor]])
        found = self._memo[tensor].get(key)
        if found is None:
            rows = [rows_of(w, tile[p], tile[r]) for w, _, p, r in self._windows]
            found = self._memo[tensor][key] = self._joined(tensor, tile, rows)
        return found

    def counted(self, tensor: int, elements: Elements) -> Elements:
        """Elements that are traffic: padding is none where it is free."""
        return elements & self._real if tensor == INPUT else elements

    def _joined(self, tensor: int, tile: Tile, rows: list[Iterable[int]]) -> Elements:
        windowed = (P, Q, R, S) if tensor == INPUT else ()
        axes: list[tuple[Iterable[int], int]] = [
            (tile[d], self.nest.extents[d]) for d in self.nest.coupled[tensor] if d not in windowed
        ]
        if windowed:
            axes += [(found, w[1]) for found, w in zip(rows, self._windows, strict=True)]
        return combined(axes)


def tile_size(tile: Tile) -> int:
    """MACs of a tile."""
    return math.prod(map(len, tile))


def rows_of(window: Window, outputs: range, taps: range) -> Iterable[int]:
    """Input rows that ranges of outputs and of taps touch."""
    rows = {window.stride * p + window.dilation * r for p in outputs for r in taps}
    return range(min(rows), max(rows) + 1) if window.box and rows else rows


def combined(axes: Iterable[tuple[Iterable[int], int]]) -> Elements:
    """Elements whose indices are all combinations of those given along each axis.

    Args:
        axes: Indices along an axis, and how many there are; the last axis runs fastest.
    """
    found, span = 1, 1
    for indices, size in reversed(list(axes)):
        block, found = found, 0
        for index in indices:
            found |= block << index * span
        span *= size
    return found


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
            if elements and (group := groups_of[unit]) >= 0:
                groups[group] = groups.get(group, 0) | elements
        total = lead = 0
        for group, some in groups.items():
            total += some.bit_count()
            if group < first:
                lead += some.bit_count()
        return total, lead

    def _find_groups(self, tensor: int, level: int, q: int, whole: bool) -> tuple[list[int], int]:
        """The group of each instance of a level, -1 for none; how many the first of `q` has."""
        keys: list[Place | None] = [(unit,) for unit in range(self._count[q])]
        for m in range(q + 1, level + 1):
            spec, dims = self._levels[m], self._coupled[tensor] if whole else ()
            flags = spec.reduce if tensor == OUTPUT else spec.multicast
            own = [not shares or d in dims for d, shares in enumerate(flags)]
            one = [whole and not split for split in own]
            keys = [
                None if key is None or any(compress(place, one)) else (*key, *compress(place, own))
                for key in keys
                for place in self._places[m]
            ]
        known = dict.fromkeys(key for key in keys if key is not None)
        numbers = {key: number for number, key in enumerate(known)}
        groups = [-1 if key is None else numbers[key] for key in keys]
        return groups, sum(key[0] == 0 for key in known)
