"""A layer as numbers between 0 and 1, for policies that see more than one layer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from layers import Layer, LayerKind

FEATURE_BITS = {
    "K": 20,
    "C": 20,
    "out_y": 20,
    "out_x": 20,
    "R": 5,
    "S": 5,
    "stride": 5,  # the geometric mean of rows and columns
    "repeats": 20,
    "macs": 50,
}
"""Properties of a :class:`Layer` and the number of bits at which each feature reaches 1."""

FEATURES = (*FEATURE_BITS, *(f"is_{kind.lower()}" for kind in LayerKind))
"""Names of the features, in the order of :func:`layer_features`."""


def layer_features(layer: Layer) -> NDArray[np.float32]:
    """The layer's extents on a log scale, and its kind as one of five flags.

    A property v becomes ``log2(v) / bits`` (`FEATURE_BITS`), clipped to 1: 1 maps to 0.

    Returns:
        ``(len(FEATURES),)`` float32 in [0, 1].
    """
    strides = (math.log2(layer.stride_y) + math.log2(layer.stride_x)) / 2
    logs = [
        strides if name == "stride" else math.log2(getattr(layer, name)) for name in FEATURE_BITS
    ]
    sizes = [min(1.0, log / bits) for log, bits in zip(logs, FEATURE_BITS.values(), strict=True)]
    kinds = [float(layer.kind is kind) for kind in LayerKind]
    return np.array(sizes + kinds, dtype=np.float32)
