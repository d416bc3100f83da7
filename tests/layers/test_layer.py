"""Layer: trimming, counts and errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layers import Layer, LayerError, LayerKind


def test_input_is_trimmed_to_what_the_filter_touches() -> None:
    layer = Layer("stem", LayerKind.CONV, K=32, C=3, Y=226, X=226, R=3, S=3, stride=2)
    assert (layer.Y, layer.X) == (225, 225)
    assert (layer.out_y, layer.out_x) == (112, 112)
    assert layer.macs == 32 * 3 * 112 * 112 * 9


@given(
    st.integers(1, 40), st.integers(1, 7), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3)
)
def test_touched_rows_equal_a_count_of_the_rows(
    size: int, taps: int, stride: int, channels: int, batch: int
) -> None:
    if taps > size:
        return
    layer = Layer("l", LayerKind.CONV, 1, channels, size, taps, taps, taps, stride, N=batch)
    rows = {o * stride + r for o in range(layer.out_y) for r in range(taps)}
    columns = {o * stride + s for o in range(layer.out_x) for s in range(taps)}
    assert layer.input_size == batch * channels * len(rows) * len(columns)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"K": 0}, "K=0"),
        ({"C": 2.5}, "C=2.5"),
        ({"R": 9}, "R=9 is larger"),
        ({"kind": "POOL"}, "unknown kind 'POOL'"),
        ({"kind": "DSCONV"}, "DSCONV needs K=1"),
        ({"groups": 2}, "needs kind NGCONV"),
        ({"stride": True}, "stride=True"),
    ],
)
def test_errors_name_the_field_and_the_value(change: dict[str, object], words: str) -> None:
    fields: dict[str, object] = dict(name="l", kind="CONV", K=4, C=3, Y=8, X=8, R=3, S=3)
    with pytest.raises(LayerError, match=words):
        Layer(**{**fields, **change})  # type: ignore[arg-type]


def test_gemm_is_a_convolution_of_one_tap() -> None:
    layer = Layer.gemm("qk", M=128, N=128, K=64, batch=12)
    assert layer.extents == (128, 64, 128, 1, 1, 1)
    assert layer.macs == 12 * 128 * 128 * 64
    assert layer.filter_size == 12 * 128 * 64
