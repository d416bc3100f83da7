"""Random tiny layers, accelerators and mappings, small enough to execute element by element."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cost_models import Accelerator, Mapping
from layers import DIMS, NEST_DIMS, Layer, LayerKind


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


def random_mapping(rng: np.random.Generator, layer: Layer, max_pes: int = 12) -> Mapping:
    """Any orders, spatial dimensions and tiles; some tiles are larger than what they tile."""
    outer = {d: int(rng.integers(1, n + 2)) for d, n in zip(NEST_DIMS, layer.extents, strict=False)}
    inner = {d: int(rng.integers(1, outer[d] + 1)) for d in NEST_DIMS}
    cluster_size = int(rng.integers(1, 5))
    num_pes = int(rng.integers(cluster_size, max(max_pes, cluster_size) + 1))
    order = ["".join(DIMS[d] for d in rng.permutation(6)) for _ in range(2)]
    parallel = [DIMS[d] for d in rng.integers(0, 6, 2)]
    return Mapping(
        (order[0], order[1]), (parallel[0], parallel[1]), (outer, inner), cluster_size, num_pes
    )


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


def random_whole_mapping(rng: np.random.Generator, layer: Layer) -> Mapping:
    """As `random_mapping`, with N and G like any other dimension."""
    outer = {d: int(rng.integers(1, n + 2)) for d, n in zip(DIMS, layer.extents, strict=True)}
    inner = {d: int(rng.integers(1, outer[d] + 1)) for d in DIMS}
    cluster_size = int(rng.integers(1, 5))
    order = ["".join(DIMS[d] for d in rng.permutation(len(DIMS))) for _ in range(2)]
    parallel = [DIMS[d] for d in rng.integers(0, len(DIMS), 2)]
    num_pes = int(rng.integers(cluster_size, 13))
    return Mapping(
        (order[0], order[1]), (parallel[0], parallel[1]), (outer, inner), cluster_size, num_pes
    )


def random_whole_case(rng: np.random.Generator, max_macs: int = 600) -> Case:
    """As `random_case`, over every dimension, stride and dilation."""
    layer = random_whole_layer(rng, max_macs)
    accelerator = random_case(rng, max_macs).accelerator
    return Case(layer, accelerator, random_whole_mapping(rng, layer))


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
