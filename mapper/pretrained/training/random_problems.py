"""Random layers, chips and objectives to train on; no layer of the zoo is ever among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import cost_models
import layers
from cost_models import Accelerator, Axis, Chain, ChainLevel, CostModel, Fanout, Widths
from layers import Layer, LayerKind
from maestro_env import Problem
from mapper.pretrained.problem_arrays import OBJECTIVES

MAX_MACS = 1e11
MOST_MACS = 1 << 16
WIDTHS = (Widths(), Widths(8, 8, 8, 24), Widths(8, 8, 8, 32), Widths(16, 16, 16, 16))
AXES = ("KCYX", "KCYXRSNG", "K", "C", "KC", "YX", "KYXN", "RYCK", "YCK")
"""Dimensions that an axis may take."""
DEEP = 0.5
"""Share of chips that are lists of levels."""
ALIKE = 2
"""Chips with as many levels whose capacities are all within this factor count as the same."""


def draw(rng: np.random.Generator, model: CostModel) -> Problem:
    """One random problem, priced by a cost model."""
    while True:
        layer = _draw_layer(rng)
        if layer.macs <= MAX_MACS and layer.shape not in zoo_shapes():
            return Problem(layer, draw_chip(rng), str(rng.choice(OBJECTIVES)), model)


@lru_cache(maxsize=1)
def zoo_shapes() -> frozenset[Layer]:
    """Shapes of the zoo without language models: the agents' tests, on which none is trained."""
    return frozenset(
        layer.shape for name in layers.networks(language=False) for layer in layers.network(name)
    )


def _channels(rng: np.random.Generator, low: int, high: int) -> int:
    """A number of channels: often a multiple of 8 or a power of two, as networks have them."""
    value = log_uniform(rng, low, high)
    kind = rng.random()
    if kind < 0.35:
        return max(8, 8 * round(value / 8))
    return _power_of_two(value) if kind < 0.65 else value


def _draw_layer(rng: np.random.Generator) -> Layer:
    kind = rng.random()
    if kind < 0.3:
        return _draw_gemm(rng)
    taps = rng.choice([1, 3, 5, 7, 11], p=[0.4, 0.45, 0.08, 0.05, 0.02])
    other = taps if rng.random() < 0.95 else rng.integers(1, 6)
    stride = rng.choice([1, 2, 3, 4], p=[0.75, 0.2, 0.02, 0.03])
    dilation = rng.choice([1, 2, 3], p=[0.95, 0.04, 0.01]) if max(taps, other) > 1 else 1
    out_y = log_uniform(rng, 2, 256)
    out_x = out_y if rng.random() < 0.85 else log_uniform(rng, 1, 256)
    batch = rng.choice([1, 2, 4, 8, 16]) if rng.random() < 0.1 else 1
    rows = (out_y - 1) * stride + dilation * (taps - 1) + 1
    columns = (out_x - 1) * stride + dilation * (other - 1) + 1
    shape: dict[str, Any] = {
        "Y": rows, "X": columns, "R": taps, "S": other,
        "stride": stride, "dilation": dilation, "N": batch,
    }  # fmt: skip
    if kind < 0.5:
        return Layer("depthwise", LayerKind.DSCONV, K=1, C=_channels(rng, 8, 2048), **shape)
    if kind < 0.55:
        shape["groups"] = rng.choice([2, 4, 8, 32])
        shape |= {dim: _channels(rng, 4, 256) for dim in "KC"}
        return Layer("grouped", LayerKind.NGCONV, **shape)
    first, filters = rng.random() < 0.05, _channels(rng, 8, 2048)
    inputs = int(rng.integers(1, 5)) if first else _channels(rng, 8, 2048)
    return Layer("conv", LayerKind.CONV, K=filters, C=inputs, **shape)


def _draw_gemm(rng: np.random.Generator) -> Layer:
    rows = 1 if rng.random() < 0.15 else _channels(rng, 2, 4096)
    batch = rng.choice([2, 4, 8, 12, 16]) if rng.random() < 0.2 else 1
    return Layer.gemm(
        "gemm", M=rows, N=_channels(rng, 4, 8192), K=_channels(rng, 4, 8192), batch=batch
    )


def draw_chip(rng: np.random.Generator) -> Accelerator | Chain:
    """One random chip."""
    if rng.random() >= DEEP:
        return _draw_two_levels(rng)
    while True:
        chip = _draw_chain(rng)
        if chip.peak_macs_per_cycle <= MOST_MACS and not any(alike(chip, c) for c in library()):
            return chip


@lru_cache(maxsize=1)
def library() -> tuple[Chain, ...]:
    """The chips of the library that are lists of levels: the agents' tests."""
    found = [cost_models.load_chip(name) for name in cost_models.CHAINS]
    return tuple(chip for chip in found if isinstance(chip, Chain))


def alike(one: Chain, other: Chain) -> bool:
    """Whether two chips have as many levels, and all capacities within a factor of `ALIKE`."""
    mine, yours = ([level.buffer.total_bits for level in c.memories] for c in (one, other))
    pairs = zip(mine, yours, strict=False)
    near = all(a is b or (a and b and max(a, b) <= ALIKE * min(a, b)) for a, b in pairs)
    return len(one.inner) == len(other.inner) and len(mine) == len(yours) and near


def log_uniform(rng: np.random.Generator, low: float, high: float) -> int:
    """A whole number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def _power_of_two(value: float) -> int:
    """The nearest power of two."""
    return int(1 << round(np.log2(value)))


def _rounded(rng: np.random.Generator, value: int, share: float) -> int:
    """The nearest power of two for a share of all values, else the value."""
    return _power_of_two(value) if rng.random() < share else value


def _draw_two_levels(rng: np.random.Generator) -> Accelerator:
    pes = log_uniform(rng, 8, 8192)
    kind = rng.random()
    if kind < 0.4:
        pes = _power_of_two(pes)
    elif kind < 0.7:
        side = max(2, round(np.sqrt(pes)))
        pes = min(8192, side * max(2, round(side * rng.uniform(0.6, 1.6))))
    unlimited = 1.0 if rng.random() < 0.08 else 0.15
    ranges = (32, 16 << 10), (2 << 10, 16 << 20), (4, 1024), (2, 256)
    limits: list[Any] = [_limited(rng, low, high, unlimited) for low, high in ranges]
    return Accelerator(pes, *limits)


def _limited(rng: np.random.Generator, low: int, high: int, unlimited: float) -> int | None:
    """A random size or bandwidth; None, no limit, for a share of all."""
    value = _rounded(rng, log_uniform(rng, low, high), 0.5)
    return None if unlimited == 1.0 or rng.random() < unlimited else value


def _draw_chain(rng: np.random.Generator) -> Chain:
    """A chip of one to four memories, the last of which feeds MACs."""
    held = _draw_holds(rng)
    size = log_uniform(rng, 16 << 10, 24 << 20)
    fans = {len(held) - 1, rng.integers(0, len(held))}
    levels = [ChainLevel(name="DRAM", read_bw=_limited(rng, 16, 2048, 0.4))]
    if rng.random() < 0.05:
        levels.append(ChainLevel(name="Fan", holds=(False,) * 3, fanout=_draw_fanout(rng)))
    for place, holds in enumerate(held):
        fanout = _draw_fanout(rng) if place in fans and rng.random() < 0.85 else Fanout()
        levels.append(_draw_memory(rng, f"M{place}", holds, size, fanout))
        smaller = size / log_uniform(rng, 2, 512) if fanout.axes else size / rng.uniform(1, 8)
        size = max(4 * sum(holds), round(smaller))
    return Chain(tuple(levels), widths=WIDTHS[rng.integers(len(WIDTHS))])


def _draw_holds(rng: np.random.Generator) -> list[tuple[bool, bool, bool]]:
    """What each memory holds, outermost first; every tensor lies somewhere."""
    count = rng.choice([1, 2, 3, 4], p=[0.08, 0.27, 0.35, 0.3])
    while True:
        held = [
            (True, True, True) if all_of < 0.45 else tuple((rng.random(3) < 0.45).tolist())
            for all_of in rng.random(count)
        ]
        if all(map(any, held)) and all(map(any, zip(*held, strict=True))):
            return held


def _draw_memory(
    rng: np.random.Generator, name: str, holds: tuple[bool, bool, bool], size: int, fanout: Fanout
) -> ChainLevel:
    size = _rounded(rng, size, 0.5)
    own: Any = (None,) * 3
    shared: int | None = size
    if sum(holds) > 1 and rng.random() < 0.25:  # each tensor has a part of its own
        parts = zip(size * rng.dirichlet((2.0, 2.0, 2.0)), holds, strict=True)
        own, shared = tuple(max(4, round(part)) if held else None for part, held in parts), None
    elif rng.random() < 0.05:
        shared = None
    return ChainLevel(
        name=name, holds=holds, tensor_bytes=own, shared_bytes=shared, fanout=fanout,
        double_buffer=(rng.random() < 0.5,) * 3, read_bw=_limited(rng, 32, 8192, 0.45),
    )  # fmt: skip


def _draw_fanout(rng: np.random.Generator) -> Fanout:
    axes = []
    for _ in range(rng.choice([1, 2, 3], p=[0.45, 0.45, 0.1])):
        units = _rounded(rng, log_uniform(rng, 2, 256), 0.6)
        dims = AXES[rng.integers(len(AXES))]
        axes.append(Axis(units, dims, rng.random() < 0.95, rng.random() < 0.93))
    return Fanout(tuple(axes))
