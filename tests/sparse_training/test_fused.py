"""GELU and attention to keys at given distances, against torch."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sparse_training import gelu, offset_attention
from tests.sparse_training.nets import refuses

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def same(a: Tensor, b: Tensor) -> bool:
    return bool((a - b).abs().max() <= TOLERANCE[a.dtype] * max(1.0, b.abs().max().item()))


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 300), st.floats(1e-6, 1e6), st.sampled_from(list(TOLERANCE)), st.integers(0, 99)
)
def test_gelu_is_torch_s_with_its_gradient(count, scale, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    x = (scale * torch.randn(count, generator=generator, dtype=dtype)).requires_grad_()
    above = torch.randn(count, generator=generator, dtype=dtype)
    mine, theirs = gelu(x), torch.nn.functional.gelu(x, approximate="tanh")
    slopes = [torch.autograd.grad(y, x, above)[0] for y in (mine, theirs)]
    assert same(mine, theirs)
    assert same(slopes[0], slopes[1])


def test_gelu_of_what_is_no_number_is_none() -> None:
    x = torch.tensor([math.nan, 0.0, -200.0, 200.0])
    y = gelu(x)
    assert y[0].isnan()
    assert y[1:].tolist() == pytest.approx([0.0, 0.0, 200.0], abs=1e-30)


@settings(max_examples=20, deadline=None)
@given(
    context=st.integers(1, 150),
    heads=st.integers(1, 3),
    size=st.integers(1, 9),
    windows=st.integers(1, 3),
    dtype=st.sampled_from(list(TOLERANCE)),
    data=st.data(),
)
def test_attention_is_a_softmax_over_the_keys_at_the_offsets(
    context, heads, size, windows, dtype, data
):
    others = data.draw(st.sets(st.integers(1, context - 1), max_size=12)) if context > 1 else set()
    offsets = [0, *sorted(others)]
    generator = torch.Generator().manual_seed(context)
    shape = (3 * heads * size, windows * context)
    qkv = torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()
    above = torch.randn(heads * size, windows * context, generator=generator, dtype=dtype)
    apart = torch.arange(context)[:, None] - torch.arange(context)[None, :]
    hidden = ~torch.isin(apart, torch.tensor(offsets))
    q, k, v = qkv.view(3, heads, size, windows, context)
    scores = torch.einsum("hdwt,hdwu->hwtu", q, k) / math.sqrt(size)
    shares = scores.masked_fill(hidden, -math.inf).softmax(-1)
    expected = torch.einsum("hwtu,hdwu->hdwt", shares, v).reshape(above.shape)
    found = offset_attention(qkv, heads, windows, offsets)
    slopes = [torch.autograd.grad(y, qkv, above)[0] for y in (found, expected)]
    assert same(found, expected)
    assert same(slopes[0], slopes[1])


def test_large_scores_do_not_overflow() -> None:
    qkv = 1e4 * torch.randn(6, 40, generator=torch.Generator().manual_seed(0))
    assert offset_attention(qkv, 1, 1, [0, 3, 7]).isfinite().all()


def test_wrong_input() -> None:
    half, ones = torch.ones(6, 4, dtype=torch.float16), torch.ones(6, 4)
    refuses(r"gelu of torch\.float16", gelu, half)
    refuses(r"offset_attention of torch\.float16", offset_attention, half, 1, 1, [0])
    refuses(r"expected \(3 \* heads \* size, windows", offset_attention, ones, 1, 3, [0])
    refuses("with 0 heads", offset_attention, ones, 0, 2, [0])
    for offsets in ([], [1], [0, 2, 2], [0, 4]):
        refuses("expected 0 and then rising numbers b", offset_attention, ones, 1, 1, offsets)
