"""Random chips of any depth, tiny layers, and mappings of them."""

import numpy as np

from cost_models import Axis, Chain, ChainLevel, ChainMapping, Entry, Fanout, Spread, Widths, Wires
from layers import DIMS, NEST_DIMS, Layer, LayerKind

EXTENTS = {"K": 3, "C": 2, "Y": 4, "X": 3, "R": 2, "S": 2}


def random_chip(rng: np.random.Generator, memories: int) -> Chain:
    """A chip whose memories have no limits, with up to two levels that hold nothing."""
    kinds = [True] * memories
    for _ in range(int(rng.integers(0, 3))):
        kinds.insert(int(rng.integers(0, len(kinds) + 1)), False)
    held = [bool(rng.random() < 0.8) for _ in range(3 * memories)]
    levels = [ChainLevel(name="DRAM", kind="LPDDR4", read_bw=64, write_bw=32)]
    memory = 0
    for place, holds in enumerate(kinds):
        axes = _axes(rng, least=0 if holds else 1)
        flags = (False,) * 3
        if holds:
            a, b, c = held[3 * memory : 3 * memory + 3]
            flags = (a, b, c) if any((a, b, c)) else (True, True, True)
            memory += 1
            if memory == memories:  # what no level holds, the innermost does
                outside = [level.holds for level in levels[1:]]
                some = [any(column) for column in zip(*outside, flags, strict=True)]
                flags = tuple(flag or not s for flag, s in zip(flags, some, strict=True))
        levels.append(
            ChainLevel(
                name=f"Level{place}",
                holds=flags,
                read_bw=int(rng.integers(8, 256)) if holds and rng.random() < 0.7 else None,
                write_bw=int(rng.integers(8, 256)) if holds and rng.random() < 0.7 else None,
                fanout=Fanout(axes),
                network=Wires(float(rng.random()), float(rng.random())) if axes else Wires(),
            )
        )
    return Chain(tuple(levels), widths=Widths(8, 4, 8, 16) if rng.random() < 0.5 else Widths())


def _axes(rng: np.random.Generator, least: int) -> tuple[Axis, ...]:
    count = int(rng.integers(least, 3))
    return tuple(
        Axis(
            int(rng.integers(1, 4)),
            multicast=bool(rng.random() < 0.8),
            reduce=bool(rng.random() < 0.8),
        )
        for _ in range(count)
    )


def random_layer(rng: np.random.Generator) -> Layer:
    """A layer of some hundred MACs with strides."""
    outputs = {d: int(rng.integers(1, n + 1)) for d, n in EXTENTS.items()}
    stride = int(rng.integers(1, 3))
    return Layer(
        "tiny",
        LayerKind.CONV,
        K=outputs["K"],
        C=outputs["C"],
        Y=(outputs["Y"] - 1) * stride + outputs["R"],
        X=(outputs["X"] - 1) * stride + outputs["S"],
        R=outputs["R"],
        S=outputs["S"],
        stride=stride,
    )


def random_mapping(
    rng: np.random.Generator, chip: Chain, layer: Layer, dims: str = NEST_DIMS
) -> ChainMapping:
    """Any tiles, ragged ones included; any order; fan-outs in part or whole."""
    tile = dict(zip(DIMS, layer.extents, strict=True))
    units = dict.fromkeys(DIMS, 1)
    entries = []
    for level in chip.inner:
        some = [d for d in dims if rng.random() < 0.8]
        tiles = {d: int(rng.integers(1, tile[d] + 1)) for d in some}
        parallel = _parallel(rng, level, dims)
        order = "".join(rng.permutation(list(dims)))
        entries.append(Entry(level.name, tiles, order, parallel))
        tile = {d: min(tiles.get(d, -(-n // units[d])), n) for d, n in tile.items()}
        units = dict.fromkeys(DIMS, 1)
        for spread in parallel:
            units[spread.dim] *= spread.units or 1
    return ChainMapping(tuple(entries))


def _parallel(rng: np.random.Generator, level: ChainLevel, dims: str) -> tuple[Spread, ...]:
    chosen = iter(rng.permutation(list(dims)))
    return tuple(
        Spread(str(next(chosen)), int(rng.integers(1, axis.units + 1)), number)
        for number, axis in enumerate(level.fanout.axes)
        if rng.random() < 0.8
    )
