"""Every mapping of a space that is not the same nest as an earlier one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from baselines.level_orders import LevelOrders
from cost_models import MappingBatch
from layers import DIMS
from maestro_env import MapSpace
from marl_common import BoolArray, FloatArray, Int32Array, IntArray

Selection = Callable[[MappingBatch], BoolArray]
CHUNK = 1 << 15
TAPS, WINDOW = (4, 5), (2, 5)
"""Places of R and S, and of Y to S, in `layers.DIMS`."""


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
        pes = mappings.pes(self.space.accelerator.num_pes)
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
            dims = np.array(spread[0], dtype=np.int64), np.array(spread[1], dtype=np.int64)
            keep &= _first_nests(self._extents, mappings, pes, values, dims)
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
        pes = mappings.pes(self.space.accelerator.num_pes)
        masks = _iterating(self._extents, mappings, pes, self._nest)
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


def _iterating(extents: IntArray, mappings: MappingBatch, pes: Int32Array, nest: bool) -> IntArray:
    """``(B, 2)`` bit masks of the loops whose place matters, a level each: see `symmetry.keys`."""
    parallel, steps = mappings.parallel.astype(np.int64), mappings.tiles.astype(np.int64)
    whole = np.stack([np.broadcast_to(extents, steps[:, 0].shape), steps[:, 0]], axis=1)
    if nest:
        clusters = np.maximum(1, pes // mappings.cluster_size)
        widths = np.stack([clusters, mappings.cluster_size], axis=1)
        stepping = np.take_along_axis(steps, parallel[..., None], axis=2) * widths[..., None]
        np.put_along_axis(steps, parallel[..., None], stepping, axis=2)
    moving = steps < whole
    if not nest:  # a parallel R or S
        taps = np.asarray(((parallel >= TAPS[0]) & (parallel <= TAPS[1])).any(axis=1))
        moving |= taps[:, None, None] & (extents > 1)
    masks: IntArray = (moving.astype(np.int64) << np.arange(len(DIMS))).sum(axis=2)
    return masks


def _first_nests(
    extents: IntArray,
    mappings: MappingBatch,
    pes: Int32Array,
    sizes: IntArray,
    dims: tuple[IntArray, IntArray],
) -> BoolArray:
    """``(B,)`` whether no earlier parallel dimensions and cluster size make the same nest.

    Two choices make the same nest if the same number of clusters and of PEs a cluster have work,
    along the same dimensions. A K, C, N or G along which one unit works is none; a parallel Y, X, R
    or S is one even then, as inputs slide along temporal dimensions only.

    Args:
        extents: ``(D,)``.
        mappings: `B` mappings.
        pes: ``(B,)``.
        sizes: ``(S,)`` cluster sizes, ascending.
        dims: Dimensions that may be parallel, of the outer and of the inner level.
    """
    tiles, own = mappings.tiles.astype(np.int64), mappings.parallel.astype(np.int64)
    there = sizes[:, None] <= pes
    units = pes // np.minimum(sizes[:, None], pes), np.broadcast_to(sizes[:, None], there.shape)
    mine = pes // mappings.cluster_size, mappings.cluster_size
    wholes = np.broadcast_to(extents, tiles[:, 0].shape), tiles[:, 0]
    alike: list[list[BoolArray]] = []  # by level and dimension ``(S, B)``: the same units work
    for level in range(2):
        pieces = -(-wholes[level] // tiles[:, level])
        at_work = np.minimum(mine[level], np.take_along_axis(pieces, own[:, [level]], 1)[:, 0])
        along = _along(own[:, level], at_work)
        alike.append([])
        for dim in dims[level]:
            working = np.minimum(units[level], pieces[:, dim])
            alike[level].append((working == at_work) & (_along(dim, working) == along) & there)
    keep, outer_seen = np.ones(len(tiles), np.bool_), np.zeros(len(tiles), np.bool_)
    for outer, same_outer in zip(dims[0], alike[0], strict=True):
        inner_seen = outer_seen.copy()
        for inner, same_inner in zip(dims[1], alike[1], strict=True):
            itself = (own[:, 0] == outer) & (own[:, 1] == inner)
            earlier = same_outer & same_inner & ~inner_seen
            earlier &= ~itself | (sizes[:, None] < mappings.cluster_size)
            keep &= ~earlier.any(axis=0)
            inner_seen |= itself
        outer_seen |= own[:, 0] == outer
    return keep


def _along(dim: Any, units: IntArray) -> IntArray:
    """The dimension that so many units work along, -1 where that is none."""
    window = (dim >= WINDOW[0]) & (dim <= WINDOW[1])
    return np.where((units > 1) | window, dim, -1)


def compute_cycles(
    extents: IntArray, mappings: MappingBatch, pes: Int32Array, lanes: int
) -> FloatArray:
    """``(B,)`` MACs of the busiest PE over the lanes: no order of the loops is faster.

    The first PE of the first cluster works in every step, on the largest tile of each.
    """
    tiles, cluster = mappings.tiles.astype(np.int64), mappings.cluster_size[:, None]
    own = [mappings.parallel[:, [level]] == np.arange(len(DIMS)) for level in range(2)]
    outer, inner = tiles[:, 0], tiles[:, 1] * np.where(own[1], cluster, 1)
    stride = outer * np.where(own[0], np.maximum(1, pes[:, None] // cluster), 1)
    whole = extents // stride

    def share(extent: IntArray) -> IntArray:
        """Elements of a cluster's tile that its first PE works on."""
        full = extent // inner
        return full * tiles[:, 1] + np.minimum(tiles[:, 1], extent - full * inner)

    rest = np.minimum(outer, extents - whole * stride)
    cycles: FloatArray = np.prod((whole * share(outer) + share(rest)).astype(np.float64), axis=1)
    return cycles / lanes
