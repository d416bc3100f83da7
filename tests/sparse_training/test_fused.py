"""GELU, layer norms and attention to keys at given distances, against torch."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from sparse_training import gelu, layer_norm, offset_attention
from tests.sparse_training.nets import refuses

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def same(mine: Tensor, theirs: Tensor, above: Tensor, given: list[Tensor]) -> None:
    """Values and gradients are equal to rounding."""
    pairs = [[y, *torch.autograd.grad(y, given, above)] for y in (mine, theirs)]
    for a, b in zip(*pairs, strict=True):
        assert (a - b).abs().max() <= TOLERANCE[a.dtype] * max(1.0, b.abs().max().item())


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 300), st.floats(1e-6, 1e6), st.sampled_from(list(TOLERANCE)), st.integers(0, 99)
)
def test_gelu_is_torch_s_with_its_gradient(count, scale, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    x = (scale * torch.randn(count, generator=generator, dtype=dtype)).requires_grad_()
    above = torch.randn(count, generator=generator, dtype=dtype)
    same(gelu(x), torch.nn.functional.gelu(x, approximate="tanh"), above, [x])


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
    others = data.draw(st.sets(st.integers(1, context - 1), max_size=40)) if context > 1 else set()
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
    same(offset_attention(qkv, heads, windows, offsets), expected, above, [qkv])


def test_large_scores_do_not_overflow() -> None:
    qkv = 1e4 * torch.randn(6, 40, generator=torch.Generator().manual_seed(0))
    assert offset_attention(qkv, 1, 1, [0, 3, 7]).isfinite().all()


@settings(max_examples=20, deadline=None)
@given(
    st.integers(8, 40), st.integers(1, 600), st.booleans(), st.sampled_from(list(TOLERANCE)),
    st.integers(0, 99),
)  # fmt: skip
def test_layer_norm_is_torch_s_with_its_gradients(features, rows, bias, dtype, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype)

    x = (3 + draw(features, rows)).requires_grad_()
    weights = [draw(features).requires_grad_() for _ in range(1 + bias)]
    theirs = torch.nn.functional.layer_norm(x.t(), (features,), *weights).t()
    same(layer_norm(x, *weights), theirs, draw(features, rows), [x, *weights])


def test_wrong_input() -> None:
    half, ones = torch.ones(6, 4, dtype=torch.float16), torch.ones(6, 4)
    refuses(r"gelu of torch\.float16", gelu, half)
    refuses(r"offset_attention of torch\.float16", offset_attention, half, 1, 1, [0])
    refuses(r"expected \(3 \* heads \* size, windows", offset_attention, ones, 1, 3, [0])
    refuses("with 0 heads", offset_attention, ones, 0, 2, [0])
    tall = torch.ones(4, 3, dtype=torch.float16)
    refuses("expected float32 or float64", layer_norm, tall, torch.ones(4, dtype=torch.float16))
    refuses(r"expected \(features, rows\)", layer_norm, torch.ones(3, 4), torch.ones(4))
    for offsets in ([], [1], [0, 2, 2], [0, 4]):
        refuses("expected 0 and then rising numbers b", offset_attention, ones, 1, 1, offsets)
