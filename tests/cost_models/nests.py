"""Random loop nests on chains of any depth, small enough to execute element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cost_models.exact.nest import (
    EACH,
    ONE,
    Lanes,
    Nest,
    NestLevel,
    Port,
    Rules,
    Window,
)
from layers import COUPLED, DIMS, LayerKind

KINDS = (LayerKind.CONV, LayerKind.CONV, LayerKind.NGCONV, LayerKind.DSCONV, LayerKind.GEMM)
SIZES = {"K": 6, "C": 6, "Y": 8, "X": 8, "R": 4, "S": 4, "N": 3, "G": 3}
"""Largest extents."""
MOST_INSTANCES = 24
Dims = tuple[int, ...]


def random_nest(rng: np.random.Generator, depth: int, most_macs: int = 800) -> Nest:
    """A nest whose chain has `depth` memories, with every field drawn.

    Args:
        rng: Where the draws come from.
        depth: Memories between DRAM and the MACs, 1 to 5.
        most_macs: MACs of the largest nest; half of them have at least 200 where that allows it.
    """
    kind = KINDS[rng.integers(len(KINDS))]
    extents = _extents(rng, kind, most_macs)
    sides, tiles, room = _sides(rng, depth), extents, MOST_INSTANCES
    levels = []
    for side in rng.permutation(len(sides)):
        spread = _units(rng, room) if not sides[side].joined else ONE
        sides[side] = replace(sides[side], units=spread)
        room //= math.prod(spread)
    for side in sides:
        level, tiles = _level(rng, side, tiles)
        levels.append(level)
    return Nest(
        extents=extents,
        levels=tuple(levels),
        coupled=_three([tuple(DIMS.index(d) for d in dims) for dims in COUPLED[kind]]),
        windows=(_window(rng, extents[2], extents[4]), _window(rng, extents[3], extents[5])),
        widths=(8, 8, 8, 8) if rng.random() < 0.5 else (8, 4, 16, 24),
        dram=_port(rng),
        lanes=_lanes(rng),
        rules=Rules(rng.random() < 0.8, rng.random() < 0.15, rng.random() < 0.85),
    )


@dataclass(frozen=True)
class _Side:
    """What an entry of the chain is: a memory, one more entry of the one before, or a fan-out."""

    keeps: tuple[bool, bool, bool]
    joined: bool = False
    port: Port | None = None
    units: Dims = ONE


def _sides(rng: np.random.Generator, depth: int) -> list[_Side]:
    sides: list[_Side] = []
    for _ in range(depth):
        port = _port(rng)
        sides.append(_Side(_keeps(rng), port=port))
        if rng.random() < 0.15:
            for _ in range(int(rng.integers(1, 3))):
                sides.append(_Side(_keeps(rng), joined=True, port=port))
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        # not within the entries of one memory
        places = [i for i in range(len(sides) + 1) if i == len(sides) or not sides[i].joined]
        sides.insert(int(rng.choice(places)), _Side((False, False, False)))
    return sides


def _extents(rng: np.random.Generator, kind: LayerKind, most_macs: int) -> Dims:
    least = min(200, most_macs // 4) if rng.random() < 0.7 else 1
    while True:
        sizes = {d: int(rng.integers(1, n + 1)) for d, n in SIZES.items()}
        if kind is LayerKind.DSCONV:
            sizes["K"] = 1
        if kind is LayerKind.GEMM:
            sizes |= {"X": 1, "R": 1, "S": 1}
        if kind is not LayerKind.NGCONV:
            sizes["G"] = 1
        if rng.random() < 0.6:
            sizes["N"] = 1
        if least <= math.prod(sizes.values()) <= most_macs:
            return tuple(sizes[d] for d in DIMS)


def _level(rng: np.random.Generator, side: _Side, around: Dims) -> tuple[NestLevel, Dims]:
    """An entry inside tiles of `around`, and its own tile."""
    share = rng.random() < 0.5
    tile = []
    for n, u in zip(around, side.units, strict=True):
        most = -(-n // u) if share else n
        whole = rng.random() < 0.35
        tile.append(most if whole else int(rng.integers(1, most + 1)))
    level = NestLevel(
        tile=tuple(tile),
        units=side.units,
        order=tuple(int(d) for d in rng.permutation(len(DIMS))),
        keeps=side.keeps,
        multicast=_flags(rng),
        reduce=_flags(rng),
        port=side.port,
        copies=_three([int(n) for n in rng.integers(1, 3, 3)]),
        joined=side.joined,
    )
    return level, level.tile


def _units(rng: np.random.Generator, room: int) -> Dims:
    """Units along up to two dimensions, at most `room` in all."""
    units = list(ONE)
    for _ in range(int(rng.choice([0, 1, 1, 2]))):
        count = int(rng.integers(1, min(4, room) + 1))
        units[rng.integers(len(DIMS))] = count
        room //= count
    return tuple(units)


def _flags(rng: np.random.Generator) -> tuple[bool, ...]:
    if rng.random() < 0.8:
        return EACH
    return tuple(bool(n) for n in rng.random(len(DIMS)) < 0.5)


def _keeps(rng: np.random.Generator) -> tuple[bool, bool, bool]:
    keeps = [bool(n) for n in rng.random(3) < 0.75]
    if not any(keeps):
        keeps[rng.integers(3)] = True
    return _three(keeps)


def _port(rng: np.random.Generator) -> Port:
    read, write = ((None, 8, 16, 40, 13)[rng.integers(5)] for _ in range(2))
    port = Port(read, read if rng.random() < 0.5 else write)
    return replace(port, shared=port.read is not None and rng.random() < 0.15)


def _window(rng: np.random.Generator, outputs: int, taps: int) -> Window:
    stride, dilation = (int(n) for n in rng.choice([1, 1, 2, 3], 2))
    rows = stride * (outputs - 1) + dilation * (taps - 1) + 1
    real = None
    if rng.random() < 0.35:
        low, high = sorted(int(n) for n in rng.integers(0, rows + 1, 2))
        real = (low, high) if low < high else (0, rows)
    return Window(stride, dilation, real, rng.random() < 0.2)


def _lanes(rng: np.random.Generator) -> Lanes:
    if rng.random() < 0.7:
        return Lanes(any=int(rng.choice([1, 1, 2, 3])))
    units = list(ONE)
    for _ in range(int(rng.integers(1, 3))):
        units[rng.integers(len(DIMS))] = int(rng.integers(1, 4))
    return Lanes(tuple(units), 1, _flags(rng), _flags(rng))


def _three(values: list[Any]) -> tuple[Any, Any, Any]:
    a, b, c = values
    return a, b, c
