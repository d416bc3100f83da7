"""The allocations of a map space: which units work along which dimension, what bypasses a level.

Choices that come to the same are one allocation: units beyond an extent, the order of two parallel
dimensions, a cluster of more PEs than there are. A full space has millions of them, so that they
are numbered: by what bypasses levels, PEs and cluster size, outer and inner units, the last the
quickest, each in the order of the space's choices.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models import MappingBatch, Structures
from layers import DIMS
from maestro_env import MapSpace
from marl_common import IntArray

Units = NDArray[np.int32]


class _Fans(NamedTuple):
    """The different ways of spreading the units of one level, given PEs and a cluster size.

    Args:
        picks: ``(n, P)`` actions whose columns of the level, the PEs and cluster size are set.
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

    Args:
        space: The map space.
        outer_tiles: See :class:`cost_models.Structures`.
        inner_tiles: Likewise.

    Attributes:
        structures: The allocations with those tiles.
    """

    def __init__(
        self, space: MapSpace, outer_tiles: tuple[IntArray, ...], inner_tiles: tuple[IntArray, ...]
    ) -> None:
        self._space = space
        self._columns = {(p.kind, p.level): i for i, p in enumerate(space.parameters)}
        clusters = self._clusters()
        found = [self._fans(level, picks) for picks, _, _ in clusters.values() for level in (0, 1)]
        self._copies = np.array([copies for _, copies, _ in clusters.values()])
        self._arrays = {key: row for row, key in enumerate(clusters)}
        self._fan = _Fans(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        counts = np.array([len(fans.copies) for fans in found])
        firsts = np.cumsum(counts) - counts
        self._bypass_column = self._columns.get(("bypass", None))
        self.structures = Structures(
            self._fan.units,
            self._fan.spread,
            np.stack([firsts[::2], counts[::2], firsts[1::2], counts[1::2]], axis=1),
            np.array([pes for _, _, pes in clusters.values()]),
            self._bypasses(),
            outer_tiles,
            inner_tiles,
        )

    def actions(self, which: IntArray) -> IntArray:
        """``(B, P)`` an action that stands for each allocation; tiles and loop orders are 0."""
        bypass, _, fans = self.structures.places(which)
        # the columns that both levels set are the same
        actions: IntArray = np.maximum(self._fan.picks[fans[:, 0]], self._fan.picks[fans[:, 1]])
        if self._bypass_column is not None:
            actions[:, self._bypass_column] = bypass
        return actions

    def copies(self, which: IntArray) -> IntArray:
        """``(B,)`` how many actions stand for each allocation, tiles and orders apart."""
        _, array, fans = self.structures.places(which)
        copies: IntArray = self._copies[array] * self._fan.copies[fans].prod(axis=1)
        return copies

    def plain(self) -> IntArray:
        """The allocations without bypass, and with one parallel dimension a level at most."""
        found = self.structures
        single = (found.fans > 1).sum(axis=1) <= 1
        numbers = []
        for start, (outer, many, inner, each) in zip(found.starts, found.arrays, strict=False):
            first = np.flatnonzero(single[outer : outer + many])
            second = np.flatnonzero(single[inner : inner + each])
            numbers.append((start + first[:, None] * each + second).ravel())
        ways = np.flatnonzero(~found.bypasses.any(axis=(1, 2)))
        plain: IntArray = (ways[:, None] * found.starts[-1] + np.concatenate(numbers)).ravel()
        return plain

    def of(self, mappings: MappingBatch) -> IntArray:
        """``(B,)`` the allocation of each mapping of the space."""
        found = self.structures
        pes = mappings.pes(self._space.accelerator.num_pes)
        keys = zip(pes.tolist(), np.minimum(mappings.cluster_size, pes).tolist(), strict=True)
        arrays = np.array([self._arrays[key] for key in keys])
        places = []
        for level in (0, 1):
            units, spread = _spread_units(self._space, mappings, level)
            place = []
            for row, (first, many) in enumerate(found.arrays[arrays, 2 * level : 2 * level + 2]):
                mine = slice(first, first + many)
                same = (found.fans[mine] == units[row]).all(axis=1)
                place.append(int(np.argmax(same & (found.spread[mine] == spread[row]))))
            places.append(np.array(place))
        bypass = np.zeros(len(mappings), dtype=np.int64)
        if mappings.bypass is not None:
            bypass = (mappings.bypass[:, None] == found.bypasses).all(axis=(2, 3)).argmax(axis=1)
        inside = places[0] * found.arrays[arrays, 3] + places[1]
        numbers: IntArray = bypass * found.starts[-1] + found.starts[arrays] + inside
        return numbers

    def _choices(self, *keys: tuple[str, int | None]) -> list[dict[int, int]]:
        """Every choice of some parameters, those that the space has, by column."""
        columns = [self._columns[key] for key in keys if key in self._columns]
        ranges = (range(len(self._space.parameters[column])) for column in columns)
        return [dict(zip(columns, picks, strict=True)) for picks in product(*ranges)]

    def _clusters(self) -> dict[tuple[int, int], tuple[dict[int, int], int, int]]:
        """By PEs and cluster size: choices, how many come to them, and PEs."""
        found: dict[tuple[int, int], tuple[dict[int, int], int, int]] = {}
        for picks in self._choices(("num_pes", None), ("cluster_size", None)):
            mappings = self._space.decode(self._action(picks))
            pes = int(mappings.pes(self._space.accelerator.num_pes)[0])
            key = pes, min(int(mappings.cluster_size[0]), pes)
            first, copies, _ = found.get(key, (picks, 0, pes))
            found[key] = first, copies + 1, pes
        return found

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

    def _bypasses(self) -> NDArray[np.bool_]:
        """``(V, 2, 3)`` what may pass."""
        column = self._bypass_column
        if column is None:
            return np.zeros((1, 2, 3), dtype=np.bool_)
        ways = len(self._space.parameters[column])
        actions = np.zeros((ways, len(self._space.nvec)), dtype=np.int64)
        actions[:, column] = np.arange(ways)
        bypass: NDArray[np.bool_] | None = self._space.decode(actions).bypass
        assert bypass is not None
        return bypass


def _spread_units(space: MapSpace, mappings: MappingBatch, level: int) -> tuple[Units, IntArray]:
    """``(n, D)`` units of a level along each dimension, and ``(n,)`` those in parallel as bits."""
    pes = mappings.pes(space.accelerator.num_pes)
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
