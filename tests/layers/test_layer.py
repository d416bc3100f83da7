"""The layer: counts, trimming and errors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from layers import Layer, LayerError, LayerKind
from tests.layers.strategies import any_layer


def executed(layer: Layer) -> dict[str, int]:
    """Count the layer's work and elements by running its loops."""
    macs = 0
    inputs, filters, outputs = set(), set(), set()
    K, C, P, Q, R, S = layer.extents
    for n, g, k, c, p, q, r, s in np.ndindex(layer.N, layer.groups, K, C, P, Q, R, S):
        macs += 1
        inputs.add((n, g, c, p * layer.stride + r, q * layer.stride + s))
        filters.add((n if layer.kind is LayerKind.GEMM else 0, g, k, c, r, s))
        outputs.add((n, g, c if layer.depthwise else k, p, q))
    return {
        "macs": macs,
        "input_size": len(inputs),
        "filter_size": len(filters),
        "output_size": len(outputs),
    }


@given(any_layer())
def test_counts_equal_an_execution_of_the_loops(layer: Layer) -> None:
    small = replace(layer, K=min(layer.K, 3), C=min(layer.C, 3))
    for count, value in executed(small).items():
        assert getattr(small, count) == value, count


@given(any_layer())
def test_input_extents_are_trimmed_to_what_the_filter_touches(layer: Layer) -> None:
    assert (layer.out_y - 1) * layer.stride + layer.R == layer.Y
    assert (layer.out_x - 1) * layer.stride + layer.S == layer.X


def test_trimming_keeps_the_outputs() -> None:
    # ResNet's first layer: 224 + 2 * 3 rows of padding, 7 x 7, stride 2, 112 outputs.
    layer = Layer("conv1", LayerKind.CONV, 64, 3, 230, 230, 7, 7, stride=2)
    assert (layer.Y, layer.out_y, layer.out_x) == (229, 112, 112)


def test_gemm_is_the_layer_of_its_matrices() -> None:
    layer = Layer.gemm("g", M=128, N=768, K=64, batch=12)
    assert layer.extents == (768, 64, 128, 1, 1, 1)
    assert layer.macs == 12 * 128 * 768 * 64
    assert layer.filter_size == 12 * 64 * 768


def test_kinds_are_read_in_any_case() -> None:
    assert Layer("l", "conv", 1, 1, 1, 1, 1, 1).kind is LayerKind.CONV


def test_numpy_integers_become_plain_ones() -> None:
    layer = Layer("l", LayerKind.CONV, np.int64(4), 3, 8, 8, 3, 3)
    assert type(layer.K) is int


def test_the_shape_ignores_the_name() -> None:
    layer = Layer("a", LayerKind.CONV, 4, 3, 8, 8, 3, 3)
    assert layer.shape == layer.renamed("b").shape
    assert layer != layer.renamed("b")


@pytest.mark.parametrize("field", ["K", "C", "Y", "X", "R", "S", "stride", "N", "groups"])
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
        ({"kind": "conv", "groups": 2}, "groups=2 needs kind NGCONV"),
        ({"kind": "cnv"}, "unknown kind 'cnv'.*Did you mean 'CONV'"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, Any], message: str) -> None:
    good = {"K": 4, "C": 4, "Y": 8, "X": 8, "R": 3, "S": 3}
    with pytest.raises(LayerError, match=message):
        Layer("odd", **{**good, **fields})
