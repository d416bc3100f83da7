"""The allocations of a space, worked out choice by choice and numbered, for the checker alone.

Of choices that give the same units along every dimension (none beyond its extent), the same
parallel dimensions, PEs, cluster size and bypass, the first one stands for all. They are
listed by bypass, then PEs, cluster size, the outer level's choices, the inner level's.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cost_models import Structures
from layers import DIMS
from maestro_env import MapSpace
from mapper.certificate.certificate_file import CertificateError
from marl_common import IntArray

Picks = dict[int, int]
"""Choices by the parameter's column."""
Spread = tuple[tuple[int, ...], int]
"""Units of a level along each dimension, and its parallel dimensions as bits."""
Tiles = tuple[IntArray, ...]
"""By dimension."""
WAYS = ("parallel", "parallel2", "units")


@dataclass(frozen=True)
class Fan:
    """One way of spreading a level's units.

    Args:
        picks: Choices that stand for it.
        copies: How many choices come to it.
        spread: Units along each dimension, and parallel dimensions.
    """

    picks: Picks
    copies: int
    spread: Spread


@dataclass(frozen=True)
class Array:
    """A number of PEs and a cluster size, with all ways of spreading units.

    Args:
        picks: Choices that stand for it.
        copies: How many choices come to it.
        pes: PEs.
        outer: Ways of the outer level.
        inner: Ways of the inner level.
    """

    picks: Picks
    copies: int
    pes: int
    outer: list[Fan]
    inner: list[Fan]


class UnitSpread:
    """The allocations of a space by number: passing first, then arrays, outer ways, inner ways.

    Args:
        space: The map space.
    """

    def __init__(self, space: MapSpace) -> None:
        self._parameters = len(space.nvec)
        self.bypasses, self.ways = _passing(space)
        self.arrays = [
            Array(picks, copies, pes, _fans(space, 0, picks, pes), _fans(space, 1, picks, pes))
            for (pes, _), (picks, copies) in _sizes(space).items()
        ]
        self._begin = [0]
        for array in self.arrays:
            self._begin.append(self._begin[-1] + len(array.outer) * len(array.inner))
        self._copies = np.concatenate([_copies(array) for array in self.arrays])

    def __len__(self) -> int:
        return len(self.ways) * self._begin[-1]

    def _parts(self, number: int) -> tuple[Picks, Array, Fan, Fan]:
        """What an allocation is made of."""
        way, rest = divmod(number, self._begin[-1])
        place = bisect_right(self._begin, rest) - 1
        array = self.arrays[place]
        first, second = divmod(rest - self._begin[place], len(array.inner))
        return self.ways[way], array, array.outer[first], array.inner[second]

    def units(self, number: int) -> IntArray:
        """``(2, D)`` units of both levels along each dimension."""
        _, _, outer, inner = self._parts(number)
        return np.array([outer.spread[0], inner.spread[0]])

    def copies(self, which: IntArray) -> IntArray:
        """``(B,)`` how many actions come to each allocation, tiles and loop orders apart."""
        copies: IntArray = self._copies[which % self._begin[-1]]
        return copies

    def actions(self, which: IntArray) -> IntArray:
        """``(B, P)`` an action that stands for each; tiles and loop orders are 0."""
        actions = np.zeros((len(which), self._parameters), np.int64)
        for row, number in enumerate(which.tolist()):
            way, array, outer, inner = self._parts(number)
            for column, pick in (way | array.picks | outer.picks | inner.picks).items():
                actions[row, column] = pick
        return actions

    def structures(self, outer: Tiles, inner: Tiles) -> Structures:
        """The allocations as cost models take them for bounds, with tiles."""
        fans: list[Fan] = []
        rows = []
        for array in self.arrays:
            row = []
            for level in (array.outer, array.inner):
                row += [len(fans), len(level)]
                fans += level
            rows.append(row)
        return Structures(
            np.array([fan.spread[0] for fan in fans], np.int32),
            np.array([fan.spread[1] for fan in fans]),
            np.array(rows),
            np.array([array.pes for array in self.arrays]),
            self.bypasses,
            outer,
            inner,
        )


def check_work(space: MapSpace, boxes: int) -> None:
    """Check that a tree may hold a box an allocation of a space, before they are listed.

    Raises:
        CertificateError: The space has far too many choices for a tree of so few boxes.
    """
    sizes = _choices(space, ("num_pes", "cluster_size"), None)
    work = sizes * sum(_choices(space, WAYS, level) for level in (0, 1))
    if work > 2000 * boxes + 100_000:
        raise CertificateError(
            f"tree: it has {boxes:,} boxes for {work:,} ways to spread units; some are missing"
        )


def _choices(space: MapSpace, kinds: tuple[str, ...], level: int | None) -> int:
    """How many picks :func:`_picks` lists."""
    return math.prod(len(p) for p in space.parameters if p.kind in kinds and p.level == level)


def _copies(array: Array) -> IntArray:
    """How many actions come to each allocation of an array."""
    outer, inner = (
        np.array([fan.copies for fan in fans], np.int64) for fans in (array.outer, array.inner)
    )
    copies: IntArray = array.copies * np.outer(outer, inner).ravel()
    return copies


def _picks(space: MapSpace, kinds: tuple[str, ...], level: int | None) -> list[Picks]:
    columns = [
        i
        for kind in kinds
        for i, p in enumerate(space.parameters)
        if (p.kind, p.level) == (kind, level)
    ]
    return [
        dict(zip(columns, picks, strict=True))
        for picks in np.ndindex(*(int(space.nvec[column]) for column in columns))
    ]


def _decoded(space: MapSpace, picks: Picks) -> IntArray:
    action = np.zeros((1, len(space.nvec)), np.int64)
    for column, pick in picks.items():
        action[0, column] = pick
    return action


def _passing(space: MapSpace) -> tuple[NDArray[np.bool_], list[Picks]]:
    """What may bypass levels, and the choices."""
    ways = _picks(space, ("bypass",), None)
    found = []
    for picks in ways:
        bypass = space.decode(_decoded(space, picks)).bypass
        found.append(np.zeros((2, 3), np.bool_) if bypass is None else bypass[0])
    return np.array(found), ways


def _sizes(space: MapSpace) -> dict[tuple[int, int], tuple[Picks, int]]:
    """By PEs and cluster size: the first choices, and how many come to it."""
    found: dict[tuple[int, int], tuple[Picks, int]] = {}
    for picks in _picks(space, ("num_pes", "cluster_size"), None):
        mapping = space.decode(_decoded(space, picks))[0]
        pes = space.accelerator.num_pes if mapping.num_pes is None else mapping.num_pes
        key = pes, min(mapping.cluster_size, pes)
        first, count = found.get(key, (picks, 0))
        found[key] = first, count + 1
    return found


def _fans(space: MapSpace, level: int, fixed: Picks, pes: int) -> list[Fan]:
    """By units along dimensions: the first choices of a level, and how many come to it."""
    found: dict[Spread, tuple[Picks, int]] = {}
    for picks in _picks(space, WAYS, level):
        mapping = space.decode(_decoded(space, fixed | picks))[0]
        cluster = min(mapping.cluster_size, pes)
        there = cluster if level else pes // cluster
        units = dict.fromkeys(DIMS, 1)
        first, second = mapping.parallel[level], mapping.parallel2[level]
        units[first] = there
        if second is not None:
            units[first] = mapping.units[level] or 0
            units[second] = there // units[first]
        spread = {first, second}
        key = (
            tuple(min(units[d], n) for d, n in zip(DIMS, space.layer.extents, strict=True)),
            sum(1 << i for i, d in enumerate(DIMS) if d in spread),
        )
        stands, count = found.get(key, (picks, 0))
        found[key] = stands, count + 1
    return [Fan(picks, count, spread) for spread, (picks, count) in found.items()]
