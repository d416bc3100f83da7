"""The allocations of a space, worked out choice by choice, for the checker alone.

Of choices that give the same units along every dimension (none beyond its extent), the same
parallel dimensions, PEs, cluster size and passing tensors, the first one stands for all. They are
listed by what passes buffers, then PEs, cluster size, the outer level's choices, the inner level's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from common import IntArray
from layers import DIMS
from maestro_env import MapSpace

Picks = dict[int, int]
"""Choices by the parameter's column."""
Spread = tuple[tuple[int, ...], int]
"""Units of a level along each dimension, and its parallel dimensions as bits."""
WAYS = ("parallel", "parallel2", "units")


@dataclass(frozen=True)
class ListedAllocations:
    """Allocations; see :class:`cost_models.Structures`.

    Args:
        actions: ``(A, P)`` an action that stands for each.
        copies: ``(A,)`` how many actions come to each, tiles and loop orders apart.
        units: ``(A, 2, D)``.
        spread: ``(A,)``.
        num_pes: ``(A,)``.
        bypass: ``(A,)``.
        bypasses: ``(V, 2, 3)``.
    """

    actions: IntArray
    copies: IntArray
    units: NDArray[np.int32]
    spread: IntArray
    num_pes: IntArray
    bypass: IntArray
    bypasses: NDArray[np.bool_]


def allocations_of(space: MapSpace) -> ListedAllocations:
    """List the allocations of a space."""
    bypasses, ways = _passing(space)
    rows: list[tuple[Picks, int, tuple[Spread, Spread], int, int]] = []
    for way, passing in enumerate(ways):
        for (pes, _), (picks, sizes) in _sizes(space).items():
            levels = [_levels(space, level, picks, pes) for level in (0, 1)]
            for (outer, (first, few)), (inner, (second, many)) in product(
                levels[0].items(), levels[1].items()
            ):
                chosen = passing | picks | first | second
                rows.append((chosen, sizes * few * many, (outer, inner), pes, way))
    actions = np.zeros((len(rows), len(space.nvec)), np.int64)
    for row, (chosen, *_) in enumerate(rows):
        for column, pick in chosen.items():
            actions[row, column] = pick
    return ListedAllocations(
        actions,
        np.array([row[1] for row in rows]),
        np.array([[spread[0] for spread in row[2]] for row in rows], np.int32),
        np.array([row[2][0][1] | row[2][1][1] for row in rows]),
        np.array([row[3] for row in rows]),
        np.array([row[4] for row in rows]),
        bypasses,
    )


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
    """What may pass buffers, and the choices."""
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


def _levels(space: MapSpace, level: int, fixed: Picks, pes: int) -> dict[Spread, tuple[Picks, int]]:
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
    return found
