"""The layer: counts, trimming and errors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import layers
from layers import Layer, LayerError, LayerKind
from tests.layers.strategies import any_layer


def executed(layer: Layer) -> dict[str, int]:
    """Count the layer's work and elements by running its loops."""
    macs = 0
    inputs, filters, outputs = set(), set(), set()
    for k, c, p, q, r, s, n, g in np.ndindex(layer.extents):
        macs += 1
        row = p * layer.stride_y + r * layer.dilation_y
        inputs.add((n, g, c, row, q * layer.stride_x + s * layer.dilation_x))
        filters.add((n if layer.kind is LayerKind.GEMM else 0, g, k, c, r, s))
        outputs.add((n, g, c if layer.depthwise else k, p, q))
    return {
        "macs": macs,
        "input_size": len(inputs),
        "filter_size": len(filters),
        "output_size": len(outputs),
    }


@settings(
    deadline=None, max_examples=40
)  # the loops of a layer of thousands of MACs take a busy machine long
@given(any_layer())
def test_counts_equal_an_execution_of_the_loops(layer: Layer) -> None:
    small = replace(layer, K=min(layer.K, 3), C=min(layer.C, 3))
    for count, value in executed(small).items():
        assert getattr(small, count) == value, count


@given(any_layer())
def test_input_extents_are_trimmed_to_what_the_filter_touches(layer: Layer) -> None:
    rows = (layer.out_y - 1) * layer.stride_y + layer.dilation_y * (layer.R - 1) + 1
    columns = (layer.out_x - 1) * layer.stride_x + layer.dilation_x * (layer.S - 1) + 1
    assert (rows, columns) == (layer.Y, layer.X)
    assert layer.given_y >= layer.Y >= sum(layer.padding[:2])


def test_trimming_takes_padding_off_first() -> None:
    layer = Layer("conv1", LayerKind.CONV, 64, 3, 230, 230, 7, 7, stride=2, padding=(3, 3, 3, 3))
    assert (layer.padding, layer.given_padding) == ((3, 2, 3, 2), (3, 3, 3, 3))
    assert layer.renamed("again").given_padding == (3, 3, 3, 3)
    assert layer.shape.shape == layer.shape


def test_a_layer_that_touches_padding_alone_keeps_its_shape() -> None:
    layer = Layer("edge", LayerKind.CONV, 1, 1, 4, 4, 1, 1, stride=4, padding=(2, 1, 1, 1))
    assert (layer.Y, layer.padding) == (1, (1, 0, 1, 0))
    assert layer.shape.shape == layer.shape


def test_pairs_of_equal_numbers_are_one_number() -> None:
    once = Layer("l", LayerKind.CONV, 4, 3, 9, 9, 3, 3, stride=2, dilation=2)
    twice = Layer("l", LayerKind.CONV, 4, 3, 9, 9, 3, 3, stride=(2, 2), dilation=(2, 2))
    assert once == twice
    assert twice.stride == 2
    uneven = Layer("l", LayerKind.CONV, 4, 3, 9, 9, 3, 1, stride=(2, 1), dilation=(2, 5))
    assert (uneven.stride, uneven.dilation, uneven.dilation_x) == ((2, 1), (2, 1), 1)
    assert (uneven.out_y, uneven.out_x) == (3, 9)


@pytest.mark.parametrize("kind", list(LayerKind))
def test_the_coupling_says_what_each_tensor_depends_on(kind: LayerKind) -> None:
    layer = Layer("l", kind, 1, 2, 3, 1, 1, 1, groups=2 if kind is LayerKind.NGCONV else 1, N=3)
    sizes = [int(np.prod(np.where(row, layer.extents, 1))) for row in layer.coupling]
    assert sizes == [layer.input_size, layer.filter_size, layer.output_size]
    assert layers.COUPLING[kind] is layer.coupling
    assert layer.coupling[1, layers.DIMS.index("N")] == (kind is LayerKind.GEMM)


def test_gemm_is_the_layer_of_its_matrices() -> None:
    layer = Layer.gemm("g", M=128, N=768, K=64, batch=12)
    assert layer.extents == (768, 64, 128, 1, 1, 1, 12, 1)
    assert layer.macs == 12 * 128 * 768 * 64
    assert layer.filter_size == 12 * 64 * 768


def test_fields_are_plain_and_the_shape_ignores_the_name() -> None:
    layer = Layer("a", "conv", np.int64(4), 3, 8, 8, 3, 3)
    assert layer.kind is LayerKind.CONV
    assert type(layer.K) is int
    assert layer.shape == layer.renamed("b").shape
    assert layer != layer.renamed("b")


@pytest.mark.parametrize(
    "field", ["K", "C", "Y", "X", "R", "S", "stride", "N", "groups", "dilation"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", None, True, 2**31])
def test_extents_are_positive_whole_numbers(field: str, value: Any) -> None:
    good = {"K": 4, "C": 4, "Y": 8, "X": 8, "R": 3, "S": 3}
    with pytest.raises(LayerError, match=rf"'odd'.*{field}="):
        Layer("odd", LayerKind.NGCONV, **{**good, field: value})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "conv", "R": 9}, "R=9 is larger than the input extent Y=8"),
        ({"kind": "conv", "S": 9}, "S=9 is larger than the input extent X=8"),
        ({"kind": "dsconv"}, "DSCONV needs K=1, got K=4"),
        ({"kind": "gemm"}, "GEMM needs X=R=S=stride=1"),
        ({"kind": "conv", "dilation": 4}, r"R=3 \(dilated to 9\) is larger .* extent Y=8"),
        ({"kind": "conv", "stride": (1, 2, 3)}, r"stride=\(1, 2, 3\) has not 2 entries"),
        ({"kind": "conv", "stride": (1, 0)}, r"stride\[1\]=0 is not a positive integer"),
        ({"kind": "conv", "dilation": "22"}, "dilation='22' is not a positive integer"),
        ({"kind": "conv", "padding": 1}, "padding=1; expected .top, bottom, left, right"),
        ({"kind": "conv", "padding": (0, 0, -1, 0)}, r"padding\[2\]=-1 is not a whole number"),
        ({"kind": "conv", "padding": (5, 4, 0, 0)}, "has more rows than the input; Y=8"),
        ({"kind": "conv", "groups": 2}, "groups=2 needs kind NGCONV"),
        ({"kind": "cnv"}, "unknown kind 'cnv'.*Did you mean 'CONV'"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, Any], message: str) -> None:
    good = {"K": 4, "C": 4, "Y": 8, "X": 8, "R": 3, "S": 3}
    with pytest.raises(LayerError, match=message):
        Layer("odd", **{**good, **fields})
