"""Random layers, chips and objectives to train on; no layer of the zoo is ever among them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import layers
from cost_models import CostModel
from layers import Layer, LayerKind
from maestro_env import Problem
from mapper.pretrained.problem_arrays import OBJECTIVES
from mapper.pretrained.training.random_chips import draw_chip, log_uniform

MAX_MACS = 1e11


def draw(rng: np.random.Generator, model: CostModel) -> Problem:
    """One random problem, priced by a cost model."""
    while True:
        layer = _draw_layer(rng)
        if layer.macs <= MAX_MACS and layer.shape not in zoo_shapes():
            break
    chip = draw_chip(rng)
    return Problem(layer, chip, str(rng.choice(list(OBJECTIVES))), model)


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
    if kind < 0.65:
        return int(1 << round(np.log2(value)))
    return value


def _draw_layer(rng: np.random.Generator) -> Layer:
    kind = rng.random()
    if kind < 0.3:
        return _draw_gemm(rng)
    taps = int(rng.choice([1, 3, 5, 7, 11], p=[0.4, 0.45, 0.08, 0.05, 0.02]))
    other = taps if rng.random() < 0.95 else int(rng.integers(1, 6))
    stride = int(rng.choice([1, 2, 3, 4], p=[0.75, 0.2, 0.02, 0.03]))
    dilation = int(rng.choice([1, 2, 3], p=[0.95, 0.04, 0.01])) if max(taps, other) > 1 else 1
    out_y = log_uniform(rng, 2, 256)
    out_x = out_y if rng.random() < 0.85 else log_uniform(rng, 1, 256)
    batch = int(rng.choice([1, 2, 4, 8, 16])) if rng.random() < 0.1 else 1
    rows = (out_y - 1) * stride + dilation * (taps - 1) + 1
    columns = (out_x - 1) * stride + dilation * (other - 1) + 1
    shape: dict[str, Any] = {"Y": rows, "X": columns, "R": taps, "S": other}
    window: dict[str, Any] = {"stride": stride, "dilation": dilation, "N": batch}
    if kind < 0.5:
        depthwise: dict[str, Any] = {"K": 1, "C": _channels(rng, 8, 2048)}
        return Layer("depthwise", LayerKind.DSCONV, **depthwise, **shape, **window)
    if kind < 0.55:
        window["groups"] = int(rng.choice([2, 4, 8, 32]))
        grouped: dict[str, Any] = {dim: _channels(rng, 4, 256) for dim in "KC"}
        return Layer("grouped", LayerKind.NGCONV, **grouped, **shape, **window)
    first, channels = rng.random() < 0.05, _channels(rng, 8, 2048)
    inputs = int(rng.integers(1, 5)) if first else _channels(rng, 8, 2048)
    return Layer("conv", LayerKind.CONV, K=channels, C=inputs, **shape, **window)


def _draw_gemm(rng: np.random.Generator) -> Layer:
    rows = 1 if rng.random() < 0.15 else _channels(rng, 2, 4096)
    batch = int(rng.choice([2, 4, 8, 12, 16])) if rng.random() < 0.2 else 1
    return Layer.gemm(
        "gemm", M=rows, N=_channels(rng, 4, 8192), K=_channels(rng, 4, 8192), batch=batch
    )
