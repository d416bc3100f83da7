"""The allocations of a map space: which units work along which dimension, what passes a buffer.

Choices that come to the same are one allocation: units beyond an extent, the order of two parallel
dimensions, a cluster of more PEs than there are.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import IntArray
from cost_models import MappingBatch
from layers import DIMS
from maestro_env import MapSpace

Units = NDArray[np.int32]


MOST_ALLOCATIONS = 6_000_000
"""Some hundred bytes each."""


class TooManyAllocationsError(ValueError):
    """A space whose allocations would not fit memory."""


class _Fans(NamedTuple):
    """The different ways of spreading the units of one level.

    Args:
        picks: ``(n, P)`` actions whose columns of the level are set.
        units: ``(n, D)``.
        spread: ``(n,)`` parallel dimensions as bits.
        copies: ``(n,)`` actions that come to each.
    """

    picks: IntArray
    units: Units
    spread: IntArray
    copies: IntArray


class Allocations:
    """All allocations of a space.

    They are listed by what passes buffers, PEs, cluster size, outer and inner units, the last the
    quickest, each in the order of the space's choices.

    Args:
        space: The map space.

    Attributes:
        actions: ``(A, P)`` an action that stands for each; tiles and loop orders are 0.
        copies: ``(A,)`` how many actions stand for each, tiles and orders apart.
        units: See :class:`cost_models.Structures`, as all that follow.
        spread: ``(A,)``.
        num_pes: ``(A,)``.
        bypass: ``(A,)``.
        bypasses: ``(V, 2, 3)``.
    """

    def __init__(self, space: MapSpace) -> None:
        self._space = space
        self._columns = {(p.kind, p.level): i for i, p in enumerate(space.parameters)}
        arrays = []
        for picks, copies, pes in self._clusters():
            outer, inner = (self._fans(level, picks) for level in (0, 1))
            first, second = np.indices((len(outer.copies), len(inner.copies))).reshape(2, -1)
            # the columns that both set are the same
            actions = np.maximum(outer.picks[first], inner.picks[second])
            units = np.stack([outer.units[first], inner.units[second]], axis=1)
            spread = outer.spread[first] | inner.spread[second]
            times = copies * outer.copies[first] * inner.copies[second]
            arrays.append((actions, times, units, spread, np.full(len(times), pes)))
        actions, times, units, spread, num_pes = map(np.concatenate, zip(*arrays, strict=True))
        column = self._columns.get(("bypass", None))
        ways = 1 if column is None else len(space.parameters[column])
        if ways * len(actions) > MOST_ALLOCATIONS:
            raise TooManyAllocationsError(
                f"the space has {ways * len(actions):,} allocations, more than {MOST_ALLOCATIONS:,}"
            )
        self.actions = np.tile(actions, (ways, 1))
        self.bypass = np.repeat(np.arange(ways), len(actions))
        if column is None:
            self.bypasses = np.zeros((1, 2, 3), dtype=np.bool_)
        else:
            self.actions[:, column] = self.bypass
            self.bypasses = _bypass(space.decode(self.actions[:: len(actions)]))
        self.copies: IntArray = np.tile(times, ways)
        self.units: Units = np.tile(units, (ways, 1, 1))
        self.spread: IntArray = np.tile(spread, ways)
        self.num_pes: IntArray = np.tile(num_pes, ways)

    def of(self, mappings: MappingBatch) -> IntArray:
        """``(B,)`` the allocation of each mapping of the space."""
        keys = zip(
            self.units.reshape(len(self.units), -1).tolist(),
            *(column.tolist() for column in (self.spread, self.num_pes, self.bypass)),
            strict=True,
        )
        rows = {(*units, *rest): row for row, (units, *rest) in enumerate(keys)}
        pes = _pes_of(self._space, mappings)
        levels = [_spread_units(self._space, mappings, level) for level in (0, 1)]
        spread = levels[0][1] | levels[1][1]
        passing = np.zeros(len(mappings), dtype=np.int64)
        if mappings.bypass is not None:
            same = (mappings.bypass[:, None] == self.bypasses).all(axis=(2, 3))
            passing = same.argmax(axis=1)
        mine = np.column_stack([levels[0][0], levels[1][0], spread, pes, passing])
        return np.array([rows[tuple(key)] for key in mine.tolist()], dtype=np.int64)

    def _choices(self, *keys: tuple[str, int | None]) -> list[dict[int, int]]:
        """Every choice of some parameters, those that the space has, by column."""
        columns = [self._columns[key] for key in keys if key in self._columns]
        ranges = (range(len(self._space.parameters[column])) for column in columns)
        return [dict(zip(columns, picks, strict=True)) for picks in product(*ranges)]

    def _clusters(self) -> list[tuple[dict[int, int], int, int]]:
        """The different cluster sizes: choices, how many come to each, and PEs."""
        found: dict[tuple[int, int], tuple[dict[int, int], int]] = {}
        for picks in self._choices(("num_pes", None), ("cluster_size", None)):
            mappings = self._space.decode(self._action(picks))
            pes = self._space.accelerator.num_pes
            if mappings.num_pes is not None:
                pes = int(mappings.num_pes[0])
            key = pes, min(int(mappings.cluster_size[0]), pes)
            first, copies = found.get(key, (picks, 0))
            found[key] = first, copies + 1
        return [(picks, copies, pes) for (pes, _), (picks, copies) in found.items()]

    def _action(self, picks: dict[int, int]) -> IntArray:
        action = np.zeros((1, len(self._space.nvec)), dtype=np.int64)
        for column, pick in picks.items():
            action[0, column] = pick
        return action

    def _fans(self, level: int, picks: dict[int, int]) -> _Fans:
        """The different ways of spreading a level's units, given a cluster size."""
        keys = [(kind, level) for kind in ("parallel", "parallel2", "units")]
        actions = np.concatenate([self._action(picks | own) for own in self._choices(*keys)])
        units, spread = _spread_units(self._space, self._space.decode(actions), level)
        keys_of = np.column_stack([units, spread])
        _, first, copies = np.unique(keys_of, axis=0, return_index=True, return_counts=True)
        order = np.argsort(first)
        first = first[order]
        return _Fans(actions[first], units[first], spread[first], copies[order])


def _pes_of(space: MapSpace, mappings: MappingBatch) -> NDArray[np.int32]:
    if mappings.num_pes is not None:
        return mappings.num_pes
    return np.full(len(mappings), space.accelerator.num_pes, dtype=np.int32)


def _spread_units(space: MapSpace, mappings: MappingBatch, level: int) -> tuple[Units, IntArray]:
    """``(n, D)`` units of a level along each dimension, and ``(n,)`` those in parallel as bits."""
    pes = _pes_of(space, mappings)
    cluster = np.minimum(mappings.cluster_size, pes)
    there = cluster if level else pes // cluster
    rows = np.arange(len(mappings))
    units = np.ones((len(mappings), len(DIMS)), dtype=np.int32)
    dims = mappings.parallel[:, level].astype(np.int64)
    units[rows, dims] = there
    spread: IntArray = np.left_shift(1, dims)
    if mappings.parallel2 is not None and mappings.units is not None:
        second = mappings.parallel2[:, level].astype(np.int64)
        some = np.flatnonzero(second >= 0)
        taken = mappings.units[some, level]
        units[some, dims[some]] = taken
        units[some, second[some]] = there[some] // taken
        spread[some] |= np.left_shift(1, second[some])
    return np.minimum(units, np.array(space.layer.extents, dtype=np.int32)), spread


def _bypass(mappings: MappingBatch) -> NDArray[np.bool_]:
    assert mappings.bypass is not None
    return mappings.bypass
