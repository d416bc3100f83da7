"""Random tiny layers, accelerators and mappings, small enough to execute element by element."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cost_models import Accelerator, Mapping
from cost_models.buffers import Level, Widths
from layers import DIMS, NEST_DIMS, TENSORS, Layer, LayerKind


@dataclass(frozen=True)
class Case:
    layer: Layer
    accelerator: Accelerator
    mapping: Mapping


def _pick(rng: np.random.Generator, *choices: int | None) -> int | None:
    return choices[int(rng.integers(len(choices)))]


def random_layer(rng: np.random.Generator, max_macs: int = 600) -> Layer:
    """A convolution, depthwise convolution, matrix product or grouped convolution."""
    while True:
        K, C = (int(n) for n in rng.integers(1, 6, 2))
        P, Q = (int(n) for n in rng.integers(1, 8, 2))
        R, S = (int(n) for n in rng.integers(1, 5, 2))
        stride = int(rng.choice([1, 1, 2, 3, 4]))
        kind = LayerKind(
            str(rng.choice(["CONV", "CONV", "CONV", "DSCONV", "NGCONV", "GEMM", "TRCONV"]))
        )
        N = int(rng.choice([1, 1, 1, 2, 3]))
        groups = int(rng.integers(1, 4)) if kind is LayerKind.NGCONV else 1
        if kind is LayerKind.DSCONV:
            K = 1
        if kind is LayerKind.GEMM:
            Q, R, S, stride = 1, 1, 1, 1
        if max_macs >= K * C * P * Q * R * S:
            Y, X = (P - 1) * stride + R, (Q - 1) * stride + S
            return Layer("tiny", kind, K, C, Y, X, R, S, stride, N, groups)


def random_mapping(rng: np.random.Generator, layer: Layer, dims: str = NEST_DIMS) -> Mapping:
    """Any orders, spatial dimensions and tiles; some tiles are larger than what they tile."""
    outer = {d: int(rng.integers(1, n + 2)) for d, n in zip(dims, layer.extents, strict=False)}
    inner = {d: int(rng.integers(1, outer[d] + 1)) for d in dims}
    cluster_size = int(rng.integers(1, 5))
    order = ["".join(dims[d] for d in rng.permutation(len(dims))) for _ in range(2)]
    parallel = [dims[d] for d in rng.integers(0, len(dims), 2)]
    num_pes = int(rng.integers(cluster_size, 13))
    return Mapping(
        (order[0], order[1]), (parallel[0], parallel[1]), (outer, inner), cluster_size, num_pes
    )


def clipped(mapping: Mapping, layer: Layer) -> Mapping:
    """The mapping with no tile larger than the extent of its dimension."""
    extents = dict(zip(DIMS, layer.extents, strict=True))
    outer, inner = ({d: min(n, extents[d]) for d, n in tile.items()} for tile in mapping.tiles)
    return replace(mapping, tiles=(outer, inner))


def random_whole_layer(rng: np.random.Generator, max_macs: int = 600) -> Layer:
    """A layer with any batch, groups, strides and dilations, rows and columns apart."""
    while True:
        base = random_layer(rng, max_macs)
        if base.kind in (LayerKind.GEMM, LayerKind.TRCONV):
            return base
        strides, dilations = (
            (int(rng.choice([1, 1, 2, 3, 4, 6])), int(rng.choice([1, 1, 2, 3, 4, 6])))
            for _ in range(2)
        )
        Y = (base.out_y - 1) * strides[0] + dilations[0] * (base.R - 1) + 1
        X = (base.out_x - 1) * strides[1] + dilations[1] * (base.S - 1) + 1
        layer = replace(base, Y=Y, X=X, stride=strides, dilation=dilations)
        if layer.macs <= 4 * max_macs:
            return layer


def random_whole_case(rng: np.random.Generator, max_macs: int = 600) -> Case:
    """As `random_case`, over every dimension, stride and dilation."""
    layer = random_whole_layer(rng, max_macs)
    accelerator = random_case(rng, max_macs).accelerator
    return Case(layer, accelerator, random_mapping(rng, layer, DIMS))


def random_chip(rng: np.random.Generator) -> Accelerator:
    """A chip in the long form: capacities, widths, copies and bandwidths tensor by tensor."""
    tensors = len(TENSORS)
    psum = int(rng.choice([8, 16, 20]))
    holds = [tuple(bool(n) for n in rng.random(tensors) < 0.9) for _ in range(2)]
    levels = [Level(read_bw=_pick(rng, None, 7, 24, 100), write_bw=_pick(rng, None, 5, 16, 64))]
    for level in range(2):
        kept = holds[level]
        if not any(kept) or not all(a or b for a, b in zip(*holds, strict=True)):
            kept = (True,) * tensors
        most = (4000, 700)[level]
        own = [int(rng.integers(20, most // 8)) if rng.random() < 0.2 else None for _ in kept]
        levels.append(
            Level(
                tensor_bytes=_three(n if held else None for n, held in zip(own, kept, strict=True)),
                holds=_three(kept),
                double_buffer=_three(rng.random() < 0.6 for _ in kept),
                read_bw=_pick(rng, None, 8, 40) if level == 0 else None,
                write_bw=_pick(rng, None, 8, 20) if level == 0 else None,
            )
        )
    shared = [
        any(n is None and held for n, held in zip(level.tensor_bytes, level.holds, strict=True))
        for level in levels[1:]
    ]
    return Accelerator(
        16,
        _pick(rng, None, None, 60) if shared[1] else None,
        _pick(rng, None, None, 300) if shared[0] else None,
        _pick(rng, None, 1, 3) if levels[1].read_bw is levels[1].write_bw is None else None,
        None,
        int(rng.choice([1, 1, 3])),
        widths=Widths(int(rng.choice([8, 16])), int(rng.choice([8, 4])), 8, psum),
        levels=(levels[0], levels[1], levels[2]),
    )


def _three(values: Iterable[Any]) -> Any:
    return tuple(values)


def random_full_mapping(rng: np.random.Generator, layer: Layer) -> Mapping:
    """A mapping of every dimension, with second parallel ones and tensors that pass a level."""
    base = random_mapping(rng, layer, DIMS)
    second: list[str | None] = [None, None]
    units: list[int | None] = [None, None]
    most = ((base.num_pes or 1) // base.cluster_size, base.cluster_size)
    for level in range(2):
        if rng.random() < 0.6:
            others = [d for d in DIMS if d != base.parallel[level]]
            second[level] = str(rng.choice(others))
            units[level] = int(rng.integers(1, most[level] + 1))
    passing = rng.random((2, len(TENSORS))) < 0.2
    for level in range(2):
        passing[level] &= not passing[level].all()
    passing[1] &= ~passing[0]
    bypass = [
        frozenset(t for t, passes in zip(TENSORS, row, strict=True) if passes) for row in passing
    ]
    return replace(
        base,
        parallel2=(second[0], second[1]),
        units=(units[0], units[1]),
        bypass=(bypass[0], bypass[1]),
    )


def random_full_case(rng: np.random.Generator, max_macs: int = 300) -> Case:
    """Any layer with any padding, any mapping, and a chip in the short or the long form."""
    layer = random_whole_layer(rng, max_macs)
    if rng.random() < 0.5 and layer.kind is not LayerKind.GEMM:
        top, left = int(rng.integers(0, layer.Y + 1)), int(rng.integers(0, layer.X + 1))
        bottom, right = int(rng.integers(0, layer.Y - top + 1)), int(rng.integers(0, 2))
        layer = replace(layer, padding=(top, bottom, left, min(right, layer.X - left)))
    chip = random_chip(rng) if rng.random() < 0.7 else random_case(rng, max_macs).accelerator
    return Case(layer, chip, random_full_mapping(rng, layer))


def random_case(rng: np.random.Generator, max_macs: int = 600) -> Case:
    """A tiny layer, an accelerator with any bandwidths and lanes, and a mapping."""
    layer = random_layer(rng, max_macs)
    accelerator = Accelerator(
        num_pes=16,
        l1_bytes=_pick(rng, None, None, None, 40),
        l2_bytes=_pick(rng, None, None, None, 200),
        noc_bw=_pick(rng, None, 1, 2, 3, 4, 16),
        offchip_bw=_pick(rng, None, 1, 2, 3, 8),
        simd_lanes=int(rng.choice([1, 1, 2, 3, 4])),
    )
    return Case(layer, accelerator, random_mapping(rng, layer))
