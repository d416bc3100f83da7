"""Random loop nests on chains of any depth, small enough to execute element by element."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cost_models.exact.nest import (
    EACH,
    ONE,
    Lanes,
    Nest,
    NestLevel,
    P,
    Port,
    Q,
    R,
    Rules,
    S,
    Window,
)
from layers import COUPLED_DIMS, DIMS, LayerKind

KINDS = (LayerKind.CONV, LayerKind.CONV, LayerKind.NGCONV, LayerKind.DSCONV, LayerKind.GEMM)
SIZES = {"K": 6, "C": 6, "Y": 8, "X": 8, "R": 4, "S": 4, "N": 3, "G": 3}
LONG = {"K": 2, "C": 2, "Y": 12, "X": 3, "R": 9, "S": 3, "N": 2, "G": 2}
"""Largest extents; of layers whose rows, or columns, are many."""
MOST_INSTANCES, MOST_ENTRIES = 16, 12
MOST_WORK = 18_000
"""Steps of all levels, and cycles of MACs that are served one by one; each of them counts as 30
visits of an instance. A nest of that much takes some 20 ms to execute."""
Dims = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """What a nest is of: its extents, what tensors depend on, and its windows."""

    extents: Dims
    coupled: tuple[Dims, Dims, Dims]
    windows: tuple[Window, Window]


@dataclass(frozen=True)
class Side:
    """What an entry of the chain is: a memory, one more entry of the one before, or a fan-out."""

    keeps: tuple[bool, bool, bool]
    joined: bool = False
    port: Port | None = None
    units: Dims = ONE


@dataclass(frozen=True)
class _Bent:
    """What a nest is bent to have, as few would have it by chance."""

    ragged: bool
    """Every entry has tiles that do not divide those around it."""
    spread: bool
    """Two entries have units along two dimensions."""
    nowhere: int | None
    """A tensor that no entry keeps."""


def random_nest(
    rng: np.random.Generator, depth: int, most_macs: int = 500, most_work: int = MOST_WORK
) -> Nest:
    """A nest whose chain has `depth` memories, with every field drawn.

    Args:
        rng: Where the draws come from.
        depth: Memories between DRAM and the MACs, 1 to 5.
        most_macs: MACs of the largest nest; more than half of them have at least 200 where that
            allows it.
        most_work: What it may take to execute, as `work` counts it.
    """
    kind = KINDS[rng.integers(len(KINDS))]
    extents = _extents(rng, kind, most_macs)
    while True:
        windows = _window(rng, extents[P], extents[R]), _window(rng, extents[Q], extents[S])
        nest = draw_nest(rng, depth, Shape(extents, COUPLED_DIMS[kind], windows))
        if work(nest) <= most_work:
            return nest


def draw_nest(
    rng: np.random.Generator, depth: int, shape: Shape, units: tuple[Dims, ...] = ()
) -> Nest:
    """A nest of a shape, whatever it takes to execute; arguments as `random_nest` has them.

    Args:
        rng: Where the draws come from.
        depth: Memories between DRAM and the MACs.
        shape: What it is of.
        units: Units of some entries, which no other has; if none are given, all are drawn.
    """
    nowhere = int(rng.integers(3)) if rng.random() < 0.1 else None
    bent = _Bent(rng.random() < 0.15, rng.random() < 0.15, nowhere)
    least = max(len(units), 2 if bent.spread else 1)
    sides, tiles = _sides(rng, depth, least, nowhere), shape.extents
    while len(sides) > MOST_ENTRIES:
        sides = _sides(rng, depth, least, nowhere)
    places = [i for i, side in enumerate(sides) if not side.joined]
    rng.shuffle(places)
    for place, along in zip(places, units or _units(rng, len(places), tiles, bent), strict=False):
        sides[place] = replace(sides[place], units=along)
    levels = []
    for side in sides:
        levels.append(_level(rng, side, tiles, bent))
        tiles = levels[-1].tile
    return Nest(
        extents=shape.extents,
        levels=tuple(levels),
        coupled=shape.coupled,
        windows=shape.windows,
        widths=(8, 8, 8, 8) if rng.random() < 0.5 else (8, 4, 16, 24),
        dram=_port(rng),
        lanes=_lanes(rng),
        rules=Rules(rng.random() < 0.8, rng.random() < 0.15, rng.random() < 0.85),
    )


def work(nest: Nest) -> int:
    """What a nest takes to execute, in visits of an instance."""
    steps, instances, work = 1, 1, 0
    macs = NestLevel(ONE, nest.lanes.units)
    served = nest.lanes.units != ONE or not all(nest.levels[-1].keeps)
    around = nest.extents
    for level in (*nest.levels, macs) if served else nest.levels:
        for n, t, u in zip(around, level.tile, level.units, strict=True):
            steps *= -(-n // (t * u))
        instances *= math.prod(level.units)
        work += steps * (30 + instances)
        around = level.tile
    return work


def _sides(rng: np.random.Generator, depth: int, least: int, nowhere: int | None) -> list[Side]:
    """Memories and fan-outs, at least so many; those of one memory have no units between them."""
    sides: list[Side] = []
    for _ in range(depth):
        port = _port(rng)
        entries = 1 if rng.random() < 0.85 else int(rng.integers(2, 4))
        for entry in range(entries):
            sides.append(Side(_keeps(rng, nowhere), entry > 0, port))
    for _ in range(max(_one_of(rng, [0, 0, 1, 2]), least - depth)):
        # not within the entries of one memory
        places = [i for i in range(len(sides) + 1) if i == len(sides) or not sides[i].joined]
        sides.insert(_one_of(rng, places), Side((False, False, False)))
    return sides


def _extents(rng: np.random.Generator, kind: LayerKind, most_macs: int) -> Dims:
    least = min(200, most_macs // 2) if rng.random() < 0.8 else 1
    most = SIZES
    if rng.random() < 0.25 and kind is not LayerKind.GEMM:
        turned = dict(zip("KCYXRSNG", "KCXYSRNG", strict=True))
        most = LONG if rng.random() < 0.5 else {turned[d]: n for d, n in LONG.items()}
    while True:
        sizes = {d: int(rng.integers(1, n + 1)) for d, n in most.items()}
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


def _level(rng: np.random.Generator, side: Side, around: Dims, bent: _Bent) -> NestLevel:
    """An entry inside tiles of `around`."""
    share, whole = rng.random() < 0.5, 0.8 if bent.ragged else 0.5
    tile = []
    for n, u in zip(around, side.units, strict=True):
        most = -(-n // u) if share else n
        tile.append(most if rng.random() < whole or most == 1 else int(rng.integers(1, most + 1)))
    ragged = [(d, t) for d, n in enumerate(around) for t in range(2, n) if n % t]
    if bent.ragged and ragged:
        d, t = ragged[rng.integers(len(ragged))]
        tile[d] = t
    return NestLevel(
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


def _units(rng: np.random.Generator, entries: int, extents: Dims, bent: _Bent) -> list[Dims]:
    """Units of some entries along up to two dimensions each, `MOST_INSTANCES` in all at most."""
    room, found = MOST_INSTANCES, []
    long = [d for d, n in enumerate(extents) if n > 1]
    for entry in range(entries):
        units = list(ONE)
        if bent.spread and entry < 2 and len(long) > 1:
            for d in rng.choice(long, 2, replace=False):
                units[d] = 2
        else:
            for _ in range(_one_of(rng, [0, 1, 1, 2])):
                likely = long if long and rng.random() < 0.9 else range(len(DIMS))
                d = _one_of(rng, likely)
                units[d] = int(rng.integers(1, min(4, room // math.prod(units)) + 1))
        room //= math.prod(units)
        found.append(tuple(units))
    return found


def _flags(rng: np.random.Generator) -> tuple[bool, ...]:
    if rng.random() < 0.75:
        return EACH
    return tuple(bool(n) for n in rng.random(len(DIMS)) < 0.5)


def _keeps(rng: np.random.Generator, nowhere: int | None) -> tuple[bool, bool, bool]:
    keeps = [bool(n) and t != nowhere for t, n in enumerate(rng.random(3) < 0.8)]
    if not any(keeps):
        keeps[_one_of(rng, [t for t in range(3) if t != nowhere])] = True
    return _three(keeps)


def _port(rng: np.random.Generator) -> Port:
    read, write = ((None, 8, 16, 40, 13)[rng.integers(5)] for _ in range(2))
    port = Port(read, read if rng.random() < 0.5 else write)
    return replace(port, shared=port.read is not None and rng.random() < 0.15)


def _window(rng: np.random.Generator, outputs: int, taps: int) -> Window:
    stride, dilation = (_one_of(rng, [1, 1, 2, 3, 4]) for _ in range(2))
    rows = stride * (outputs - 1) + dilation * (taps - 1) + 1
    real = None
    if rng.random() < 0.4:
        low, high = sorted(int(n) for n in rng.integers(0, rows + 1, 2))
        if low == high or rng.random() < 0.5:  # little padding or none, as layers have it
            low, high = min(low, 2), max(high, rows - 2)
        real = (low, high) if low < high else (0, rows)
    return Window(stride, dilation, real, rng.random() < 0.2)


def _lanes(rng: np.random.Generator) -> Lanes:
    if rng.random() < 0.7:
        return Lanes(any=_one_of(rng, [1, 1, 2, 3]))
    units = list(ONE)
    for _ in range(int(rng.integers(1, 3))):
        units[rng.integers(len(DIMS))] = int(rng.integers(1, 4))
    return Lanes(tuple(units), 1, _flags(rng), _flags(rng))


def _one_of(rng: np.random.Generator, values: Sequence[int]) -> int:
    """One of some values, as `rng.choice` draws it, in a fifth of its time."""
    return values[int(rng.integers(len(values)))]


def _three(values: list[Any]) -> tuple[Any, Any, Any]:
    a, b, c = values
    return a, b, c
