"""The structures of a map space, and the way back from them to actions."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from baselines.optimal.allocations import Allocations
from baselines.optimal.box_layout import TAPS
from cost_models import INNER_FIRST, OUTER_FIRST, MappingBatch
from layers import DIMS
from maestro_env import MapSpace
from marl_common import IntArray

Boxes = NDArray[np.int16]
"""``(B, 4, D)`` positions of tiles; see :mod:`cost_models.cost_model`."""
Sets = tuple[IntArray, Boxes]
"""Allocations ``(B,)`` and boxes of tiles."""
AT_ONCE = 1 << 16
"""Allocations listed at a time."""
KINDS = (
    *("priority", "order", "parallel", "tile", "cluster_size", "num_pes"),
    *("parallel2", "units", "bypass"),
)
"""Kinds of parameters that structures and loop orders are made of."""
MOST_TILES = np.iinfo(np.int16).max


class StructureSpace:
    """All that a map space offers but loop orders: allocations, and outer and inner tiles.

    Args:
        space: The map space.

    Attributes:
        structures: What bounds are asked about.
        tiles: ``(2, D, most)`` outer and inner tiles, ascending; ones beyond the last.
    """

    def __init__(self, space: MapSpace) -> None:
        self.space = space
        columns: dict[tuple[str, int | None, str], int] = {
            (p.kind, p.level, p.dim): i for i, p in enumerate(space.parameters)
        }
        self._tile_columns = np.array(
            [[columns.get(("tile", level, dim), -1) for dim in DIMS] for level in (0, 1)]
        )
        plain = space.decode(np.zeros((1, len(space.nvec)), dtype=np.int64)).tiles[0]
        offered = [
            tuple(self._offered(level, d, int(plain[level, d])) for d in range(len(DIMS)))
            for level in (0, 1)
        ]
        self.allocations = Allocations(space, *offered)
        self.structures = self.allocations.structures
        most = max(len(tiles) for level in offered for tiles in level)
        self.tiles = np.ones((2, len(DIMS), most))
        for level in (0, 1):
            for d, tiles in enumerate(offered[level]):
                self.tiles[level, d, : len(tiles)] = tiles
        self._counts = np.array([[len(tiles) for tiles in level] for level in offered])
        orders = [p for p in space.parameters if p.kind in ("priority", "order")]
        self.orders = math.prod(len(p) for p in orders)

    def _offered(self, level: int, d: int, fixed: int) -> IntArray:
        column = self._tile_columns[level, d]
        if column < 0:
            return np.array([fixed])
        return np.array(self.space.parameters[column].choices, dtype=np.int64)

    def roots(self) -> Iterator[Sets]:
        """The sets that hold the whole space: one box of all tiles per allocation."""
        box = self._everything()
        for low in range(0, len(self.structures), AT_ONCE):
            which = np.arange(low, min(low + AT_ONCE, len(self.structures)))
            yield which, np.repeat(box[None], len(which), axis=0)

    def some_roots(self, count: int) -> Sets:
        """About so many of them, evenly spaced."""
        which = np.arange(0, len(self.structures), -(-len(self.structures) // count))
        return which, np.repeat(self._everything()[None], len(which), axis=0)

    def _everything(self) -> Boxes:
        """``(4, D)`` all tiles."""
        if self._counts.max() > MOST_TILES:
            raise ValueError(
                f"space: {self._counts.max()} tiles of one dimension, expected at most "
                f"{MOST_TILES}; use tiles='balanced'"
            )
        box = np.zeros((4, len(DIMS)), dtype=np.int16)
        box[1] = self._counts[0] - 1
        for d in range(len(DIMS)):
            # inner tiles above the largest outer one all count as that
            largest = self.structures.outer_tiles[d][-1]
            inner = self.structures.inner_tiles[d]
            box[3, d] = min(int(np.searchsorted(inner, largest)), len(inner) - 1)
        return box

    def allocation_of(self, mappings: MappingBatch) -> IntArray:
        """``(B,)`` the allocation of each mapping of the space."""
        return self.allocations.of(mappings)

    def whole_filters(self) -> Iterator[Sets]:
        """The roots with filters in one tile: a small part that often holds a good mapping."""
        for which, boxes in self.roots():
            for d in TAPS:
                boxes[:, 0, d] = boxes[:, 1, d]
                boxes[:, 2, d] = boxes[:, 3, d]
            yield which, boxes

    def plain_allocations(self) -> Iterator[Sets]:
        """The roots where no tensor bypasses a level, and a level has one parallel dimension."""
        which = self.allocations.plain()
        if len(which):
            yield which, np.repeat(self._everything()[None], len(which), axis=0)

    def actions(self, which: IntArray, boxes: Boxes) -> IntArray:
        """``(B, P)`` actions of structures, sets of one tile everywhere; loop orders are 0."""
        actions = self.allocations.actions(which)
        for level, row in ((0, OUTER_FIRST), (1, INNER_FIRST)):
            for d in np.flatnonzero(self._tile_columns[level] >= 0):
                actions[:, self._tile_columns[level, d]] = boxes[:, row, d]
        return actions

    def sizes(self, which: IntArray, boxes: Boxes) -> list[int]:
        """How many actions stand for the mappings of each set, exact."""
        outer = boxes[:, 1].astype(np.int64) - boxes[:, 0] + 1
        last = boxes[:, 3].astype(np.int64)
        dims = np.arange(len(DIMS))
        # an inner tile at or above every outer one stands for all beyond it too
        covers = self.tiles[1, dims, last] >= self.tiles[0, dims, boxes[:, 1]]
        inner = np.where(covers, self._counts[1] - 1, last) - boxes[:, 2] + 1
        return [
            copies * self.orders * math.prod(o) * math.prod(i)
            for copies, o, i in zip(
                self.allocations.copies(which).tolist(), outer.tolist(), inner.tolist(), strict=True
            )
        ]
