"""Every mapping of a space that is not the same nest as an earlier one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from baselines.level_orders import LevelOrders
from common import BoolArray, Int8Array, Int32Array, IntArray, compiled
from cost_models import MappingBatch
from layers import DIMS
from maestro_env import MapSpace

Selection = Callable[[MappingBatch], BoolArray]
CHUNK = 1 << 15


class Enumeration:
    """The structures of a space (all but the loop orders), and the orders worth trying in each.

    Args:
        space: The space.
        nest: Whether the cost model counts the loop nest alone, so that structures that differ
            only in idle PEs, and orders that differ in a parallel loop of one step, count as one.
    """

    def __init__(self, space: MapSpace, nest: bool) -> None:
        # what is told apart there knows one parallel dimension a level
        self.space, self._nest = space, nest and not space.full
        self._axes = self._build_axes()
        self.structures = math.prod(len(choices) for _, choices in self._axes)
        self._extents = np.array(space.layer.extents, dtype=np.int64)
        self._orders = [LevelOrders(space, level, ties=True) for level in (0, 1)]

    def _build_axes(self) -> list[tuple[list[int], IntArray]]:
        """Columns that are chosen together, and their ``(n, columns)`` choices."""
        parameters, axes = self.space.parameters, []
        for column, parameter in enumerate(parameters):
            if parameter.kind not in ("tile", "priority", "order"):
                axes.append(([column], np.arange(len(parameter))[:, None]))
            if parameter.kind == "tile" and parameter.level == 0:
                inner = self.space.index(f"inner_tile_{parameter.dim}")
                pairs = [
                    (i, j)
                    for i, outer in enumerate(map(int, parameter.choices))
                    for j in _not_clamped(outer, tuple(map(int, parameters[inner].choices)))
                ]
                axes.append(([column, inner], np.array(pairs, dtype=np.int64)))
        return axes

    def chunks(self, select: Selection | None = None) -> Iterator[tuple[IntArray, MappingBatch]]:
        """Structures in order, some thousands a time: actions of the first order, and mappings.

        Args:
            select: Tells which mappings to keep, before repetitions are looked for.
        """
        shape = [len(choices) for _, choices in self._axes]
        for start in range(0, self.structures, CHUNK):
            index = np.arange(start, min(start + CHUNK, self.structures))
            actions = np.zeros((len(index), len(self.space.nvec)), dtype=np.int64)
            for (columns, choices), digit in zip(
                self._axes, np.unravel_index(index, shape), strict=True
            ):
                actions[:, columns] = choices[digit]
            mappings = self.space.decode(actions)
            if select is not None:
                rows = np.flatnonzero(select(mappings))
                actions, mappings = actions[rows], mappings.take(rows)
            keep = self._first_of_kind(actions, mappings)
            yield actions[keep], mappings.take(keep)

    def _first_of_kind(self, actions: IntArray, mappings: MappingBatch) -> IntArray:
        """Rows to keep: no cluster beyond the PEs, and no structure that repeats an earlier one."""
        pes = mappings.num_pes
        if pes is None:
            pes = np.full(len(mappings), self.space.accelerator.num_pes, dtype=np.int32)
        sizes = self.space.parameters[self.space.index("cluster_size")].choices
        choice = actions[:, self.space.index("cluster_size")]
        values = np.array(sizes, dtype=np.int64)
        clamped = (choice > 0) & (values[np.maximum(choice - 1, 0)] >= pes)
        keep = ~clamped
        if self._nest:
            spread = [
                [DIMS.index(str(d)) for d in self.space.parameters[column].choices]
                for column in (self.space.index(f"{n}_parallel") for n in ("outer", "inner"))
            ]
            keep &= _first_nests(
                self._extents,
                mappings.tiles,
                mappings.parallel,
                mappings.cluster_size,
                pes,
                values,
                np.array(spread[0], dtype=np.int64),
                np.array(spread[1], dtype=np.int64),
            )
        return np.flatnonzero(keep)

    def expand(self, actions: IntArray, mappings: MappingBatch, first: bool) -> IntArray:
        """Actions of structures with their different loop orders.

        Args:
            actions: ``(B, P)`` structures.
            mappings: Their mappings.
            first: Only the first order of each (True), or all the others (False).
        """
        if len(actions) == 0:
            return actions
        pes = mappings.num_pes
        if pes is None:
            pes = np.full(len(mappings), self.space.accelerator.num_pes, dtype=np.int32)
        masks = _iterating(
            self._extents,
            mappings.tiles,
            mappings.parallel,
            mappings.cluster_size,
            pes,
            self._nest,
        )
        found: list[IntArray] = []
        for outer, inner in {(int(a), int(b)) for a, b in masks}:
            rows = actions[(masks[:, 0] == outer) & (masks[:, 1] == inner)]
            for number, (a, b) in enumerate(
                product(self._orders[0].different(outer), self._orders[1].different(inner))
            ):
                if (number == 0) == first:
                    ordered = rows.copy()
                    ordered[:, self._orders[0].columns] = a
                    ordered[:, self._orders[1].columns] = b
                    found.append(ordered)
        return np.concatenate(found) if found else actions[:0]


def _not_clamped(outer: int, inner: tuple[int, ...]) -> list[int]:
    """Choices of the inner tile up to the first that reaches the outer one."""
    below = [i for i, tile in enumerate(inner) if tile < outer]
    return below + ([len(below)] if len(below) < len(inner) else [])


@compiled
def _iterating(
    extents: IntArray,
    tiles: Int32Array,
    parallel: Int8Array,
    cluster: Int32Array,
    pes: Int32Array,
    nest: bool,
) -> IntArray:
    """``(B, 2)`` bit masks of the loops whose place matters, a level each: see `symmetry.keys`."""
    masks = np.zeros((len(tiles), 2), np.int64)
    for row in range(len(tiles)):
        taps = False  # a parallel R or S
        for level in range(2):
            taps = taps or 4 <= parallel[row, level] <= 5
        for level in range(2):
            width = cluster[row] if level == 1 else max(1, pes[row] // cluster[row])
            for dim in range(len(DIMS)):
                whole = tiles[row, 0, dim] if level == 1 else extents[dim]
                step = tiles[row, level, dim]
                if nest and parallel[row, level] == dim:
                    step *= width
                if step < whole or (taps and not nest and extents[dim] > 1):
                    masks[row, level] |= 1 << dim
    return masks


@compiled
def _first_nests(
    extents: IntArray,
    tiles: Int32Array,
    parallel: Int8Array,
    cluster: Int32Array,
    pes: Int32Array,
    sizes: IntArray,
    outer_dims: IntArray,
    inner_dims: IntArray,
) -> NDArray[np.bool_]:
    """``(B,)`` whether no earlier parallel dimensions and cluster size make the same nest.

    Two choices make the same nest if the same number of clusters and of PEs a cluster have work,
    along the same dimensions. A K, C, N or G along which one unit works is none; a parallel Y, X, R
    or S is one even then, as inputs slide along temporal dimensions only.
    """
    keep = np.ones(len(tiles), np.bool_)
    for row in range(len(tiles)):
        mine = _busy(
            extents, tiles[row], parallel[row, 0], parallel[row, 1], cluster[row], pes[row]
        )
        for outer in outer_dims:
            for inner in inner_dims:
                for size in sizes:
                    if (
                        outer == parallel[row, 0]
                        and inner == parallel[row, 1]
                        and size >= cluster[row]
                    ):
                        break
                    if size > pes[row]:
                        break
                    if _busy(extents, tiles[row], outer, inner, size, pes[row]) == mine:
                        keep[row] = False
                        break
                if not keep[row] or (outer == parallel[row, 0] and inner == parallel[row, 1]):
                    break
            if not keep[row] or outer == parallel[row, 0]:
                break
    return keep


@compiled
def _busy(
    extents: IntArray, tiles: Int32Array, outer: int, inner: int, size: int, pes: int
) -> tuple[int, int, int, int]:
    clusters = min(pes // size, -(-extents[outer] // tiles[0, outer]))
    workers = min(size, -(-tiles[0, inner] // tiles[1, inner]))
    return (
        clusters,
        workers,
        outer if clusters > 1 or 2 <= outer <= 5 else -1,
        inner if workers > 1 or 2 <= inner <= 5 else -1,
    )


@compiled
def compute_cycles(
    extents: IntArray,
    tiles: Int32Array,
    parallel: Int8Array,
    cluster: Int32Array,
    pes: Int32Array,
    lanes: int,
) -> NDArray[np.float64]:
    """``(B,)`` MACs of the busiest PE over the lanes: no order of the loops is faster.

    The first PE of the first cluster works in every step, on the largest tile of each.
    """
    cycles = np.ones(len(tiles))
    for row in range(len(tiles)):
        clusters = max(1, pes[row] // cluster[row])
        for dim in range(len(DIMS)):
            outer = tiles[row, 0, dim]
            stride = outer * (clusters if parallel[row, 0] == dim else 1)
            width = cluster[row] if parallel[row, 1] == dim else 1
            whole = extents[dim] // stride
            rest = min(outer, extents[dim] - whole * stride)
            cycles[row] *= whole * _share(outer, tiles[row, 1, dim], width) + _share(
                rest, tiles[row, 1, dim], width
            )
    return cycles / lanes


@compiled
def _share(extent: int, tile: int, width: int) -> int:
    """Elements of a cluster's tile that its first PE works on."""
    whole = extent // (tile * width)
    return whole * tile + min(tile, extent - whole * tile * width)
