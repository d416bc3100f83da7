"""Random nests of layers of the zoo, with many units, cut down so that they can be executed.

Rows, columns and taps are the layer's own, with its stride, dilation and padding. There are few
channels, filters, images and groups.
"""

import math
from functools import cache

import numpy as np

import layers
from cost_models.exact.nest import ONE, Nest, P, Window
from layers import DIMS, Layer
from tests.cost_models.nests import Dims, Shape, draw_nest, work

FEW = 4
"""Channels, filters, images or groups at most."""
FEWEST_UNITS, MOST_UNITS = 64, 1024
MOST_MACS, MOST_WORK = 400_000, 400_000
TRIES = 20
"""Nests drawn of a layer before another one is taken."""


@cache
def zoo() -> tuple[Layer, ...]:
    """The layers of the zoo that differ in rows, columns, taps or padding."""
    found = [layer for name in layers.networks(language=False) for layer in layers.network(name)]
    return tuple({(x.kind, x.extents[P:], x.stride, x.padding): x for x in found}.values())


def layer_nest(rng: np.random.Generator, depth: int) -> Nest:
    """A nest of a layer of the zoo with two fan-outs of 64 to 1,024 units together."""
    while True:
        layer = zoo()[rng.integers(len(zoo()))]
        for _ in range(TRIES):
            few = tuple(min(n, int(rng.integers(1, FEW + 1))) for n in layer.extents)
            kept = zip(DIMS, layer.extents, few, strict=True)
            shape = _shape(rng, layer, tuple(n if d in "YXRS" else m for d, n, m in kept))
            units = _units(rng, shape.extents)
            spread = math.prod(map(math.prod, units))
            if math.prod(shape.extents) <= MOST_MACS and FEWEST_UNITS <= spread <= MOST_UNITS:
                nest = draw_nest(rng, depth, shape, units)
                if work(nest) <= MOST_WORK:
                    return nest


def whole_layer_nest(rng: np.random.Generator, depth: int) -> Nest:
    """A nest of a layer of the zoo as it is, with up to 1,024 units."""
    layer = zoo()[rng.integers(len(zoo()))]
    shape = _shape(rng, layer, layer.extents)
    return draw_nest(rng, depth, shape, _units(rng, shape.extents))


def _shape(rng: np.random.Generator, layer: Layer, extents: Dims) -> Shape:
    """A layer with other extents."""
    top, bottom, left, right = layer.padding
    free, box = rng.random() < 0.5, rng.random() < 0.2
    rows = Window(layer.stride_y, layer.dilation_y, (top, layer.Y - bottom) if free else None, box)
    columns = Window(
        layer.stride_x, layer.dilation_x, (left, layer.X - right) if free else None, box
    )
    return Shape(extents, layer.coupled_dims, (rows, columns))


def _units(rng: np.random.Generator, extents: Dims) -> tuple[Dims, Dims]:
    """Units of two fan-outs, each along one or two dimensions, the longer ones more often."""
    share = np.log(np.array(extents)) + 1e-9
    fans = (list(ONE), list(ONE))
    for units in fans:
        for d in rng.choice(len(DIMS), int(rng.integers(1, 3)), False, share / share.sum()):
            units[d] = int(rng.integers(2, min(32, 1 + extents[d]) + 1))
    return tuple(fans[0]), tuple(fans[1])
