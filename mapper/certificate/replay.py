"""The boxes of a certificate: its tree is walked, and what is left of the space is counted.

A box is an allocation (units along dimensions, PEs, bypass) with a range of outer and
a range of inner tiles in each dimension. The walk begins with one box of all tiles an allocation,
in the order of :mod:`mapper.certificate.unit_spread`. A byte says what becomes of a box:

- 0 to 7: the outer tiles of this dimension (KCYXRSNG) are halved, positions ``first`` to
  ``(first + last) // 2`` and the rest; 8 to 15 the inner tiles of dimension byte - 8. Both halves
  come in the next level, side by side.
- 254: the box is one structure, all of whose loop orders were evaluated.
- 255: no mapping of the box is below the claimed bound.

An inner tile above the outer one counts as that, so after a split of outer tiles the inner range
ends at the first tile that reaches the largest outer one; it stands for all beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cost_models import Structures
from layers import DIMS
from maestro_env import MapSpace
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.relaxation import Boxes
from mapper.certificate.unit_spread import UnitSpread
from marl_common import IntArray

D = len(DIMS)
SETTLED, RULED_OUT = 254, 255
ROOTS = 1 << 16
"""Allocations that are walked at a time."""
Ranges = NDArray[np.int16]
"""``(B, 4, D)`` first and last outer tile, first and last inner tile, as positions."""


@dataclass(frozen=True)
class CheckedLevel:
    """Boxes of one level of the tree.

    Args:
        which: ``(B,)`` allocations.
        ranges: Their tiles.
        kinds: ``(B,)`` what becomes of them.
        parents: ``(B,)`` their parents' places in the level before; empty for roots.
    """

    which: IntArray
    ranges: Ranges
    kinds: NDArray[np.uint8]
    parents: IntArray


class Grid:
    """The allocations and tiles of a space, listed from its parameters.

    Args:
        space: The map space.
    """

    def __init__(self, space: MapSpace) -> None:
        self.space = space
        self.columns = {(p.kind, p.level, p.dim): i for i, p in enumerate(space.parameters)}
        plain = space.decode(np.zeros((1, len(space.nvec)), np.int64)).tiles[0]
        self.tiles = [
            [self._tiles(level, dim, int(plain[level, d])) for d, dim in enumerate(DIMS)]
            for level in (0, 1)
        ]
        self.allocations = UnitSpread(space)
        self.orders = math.prod(len(p) for p in space.parameters if p.kind in ("priority", "order"))
        longest = max(len(tiles) for level in self.tiles for tiles in level)
        self.table = np.zeros((2, D, longest), np.int64)
        for level in (0, 1):
            for d in range(D):
                self.table[level, d, : len(self.tiles[level][d])] = self.tiles[level][d]
        self.counts = np.array([[len(tiles) for tiles in level] for level in self.tiles])

    @cached_property
    def known(self) -> Structures:
        """The space as cost models take it for bounds."""
        outer, inner = (tuple(np.array(t, np.int64) for t in level) for level in self.tiles)
        return self.allocations.structures(outer, inner)

    def roots(self, low: int, high: int) -> tuple[IntArray, Ranges]:
        """One box of all tiles for allocations number `low` to `high` - 1."""
        ranges = np.zeros((high - low, 4, D), np.int16)
        ranges[:, 1] = self.counts[0] - 1
        ranges[:, 3] = self.counts[1] - 1
        self._end_at_the_outer_tile(ranges)
        return np.arange(low, high), ranges

    def halves(self, which: IntArray, ranges: Ranges, kinds: NDArray[np.uint8]) -> Ranges:
        """``(2 B, 4, D)`` both halves of boxes.

        Raises:
            CertificateError: A range of one tile is split.
        """
        level, dim = kinds // D, kinds % D
        rows = np.arange(len(which))
        first = ranges[rows, 2 * level, dim].astype(np.int64)
        last = ranges[rows, 2 * level + 1, dim].astype(np.int64)
        if (last <= first).any():
            raise CertificateError("tree: a range of one tile is split")
        both = np.repeat(ranges, 2, axis=0)
        both[2 * rows, 2 * level + 1, dim] = (first + last) // 2
        both[2 * rows + 1, 2 * level, dim] = (first + last) // 2 + 1
        self._end_at_the_outer_tile(both)
        return both

    def _end_at_the_outer_tile(self, ranges: Ranges) -> None:
        for d in range(D):
            inner = np.array(self.tiles[1][d])
            largest = self.table[0, d, ranges[:, 1, d]]
            enough = np.searchsorted(inner, largest)
            ranges[:, 3, d] = np.maximum(np.minimum(ranges[:, 3, d], enough), ranges[:, 2, d])

    def size(self, which: IntArray, ranges: Ranges) -> int:
        """How many actions of the space stand for the mappings of some boxes, exact."""
        last = ranges[:, 3].astype(np.int64)
        dims = np.arange(D)
        reaches = self.table[1, dims, last] >= self.table[0, dims, ranges[:, 1]]
        inner = np.where(reaches, self.counts[1] - 1, last) - ranges[:, 2] + 1
        outer = ranges[:, 1].astype(np.int64) - ranges[:, 0] + 1
        small = self.space.size < 1 << 62
        each = self.allocations.copies(which).astype(np.int64 if small else object)
        for counts in (outer, inner):
            for d in range(D):
                each = each * counts[:, d]
        return int(each.sum()) * self.orders

    def boxes(self, which: IntArray, ranges: Ranges) -> Boxes:
        """Boxes as chains of L2 and L1, for the checker's own bounds."""
        known = self.known
        extents, dims = np.array(self.space.layer.extents), np.arange(D)
        units = np.ones((len(which), 3, D), np.int64)
        outer, inner = np.moveaxis(np.maximum(known.units(which), 1), 1, 0)
        units[:, 1] = outer.astype(np.int64) * inner
        tiles = [self.table[level, dims, ranges[:, 2 * level + 1]] for level in (0, 1)]
        high = np.stack([np.minimum(tiles[0] * outer, extents), np.minimum(*tiles)], axis=1)
        chip = self.space.accelerator
        direct = known.bypasses[known.places(which).bypass][:, 0] | ~np.array(
            chip.buffers()[0].holds
        )
        return Boxes(units, high, direct)

    def actions(self, which: IntArray, ranges: Ranges) -> IntArray:
        """``(B, P)`` actions of structures, their loop orders left at 0."""
        actions = self.allocations.actions(which)
        for (kind, level, dim), column in self.columns.items():
            if kind == "tile" and level is not None:
                actions[:, column] = ranges[:, 2 * level, DIMS.index(dim)]
        return actions

    def _tiles(self, level: int, dim: str, fixed: int) -> list[int]:
        column = self.columns.get(("tile", level, dim))
        return (
            [fixed] if column is None else [int(c) for c in self.space.parameters[column].choices]
        )


def walk(grid: Grid, tree: NDArray[np.uint8]) -> Iterator[CheckedLevel]:
    """The levels of a tree, for some roots after the other.

    Raises:
        CertificateError: It is too short or too long, or splits what cannot be split.
    """
    at = _begins(len(grid.allocations), tree)
    for low in range(0, len(grid.allocations), ROOTS):
        which, ranges = grid.roots(low, min(low + ROOTS, len(grid.allocations)))
        parents = np.empty(0, np.int64)
        depth = 0
        while len(which):
            kinds = tree[at[depth] : at[depth] + len(which)]
            at[depth] += len(which)
            yield CheckedLevel(which, ranges, kinds, parents)
            split = np.flatnonzero(kinds < SETTLED)
            parents = np.repeat(split, 2)
            ranges = grid.halves(which[split], ranges[split], kinds[split])
            which = which[parents]
            depth += 1


def _begins(roots: int, tree: NDArray[np.uint8]) -> list[int]:
    """Where each level begins.

    Raises:
        CertificateError: The tree is too short or too long, or a byte has no meaning.
    """
    unknown = tree[(tree >= 2 * D) & (tree < SETTLED)]
    if len(unknown):
        raise CertificateError(f"tree: byte {unknown[0]} has no meaning")
    begins = []
    begin, boxes = 0, roots
    while boxes:
        begins.append(begin)
        if begin + boxes > len(tree):
            raise CertificateError(f"tree: it ends after {len(tree):,} boxes; some are missing")
        begin, boxes = begin + boxes, 2 * int((tree[begin : begin + boxes] < SETTLED).sum())
    if begin != len(tree):
        raise CertificateError(f"tree: it has {len(tree) - begin:,} boxes too many")
    return begins
