"""Sparse attention: who sees whom, and the chunked path against the masked one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from torch.nn.functional import scaled_dot_product_attention

from mst.attention import PATTERNS, Attention, check_pattern, chunked, visible, visible_pairs
from mst.errors import MstError

SPARSE = [pattern for pattern in PATTERNS if pattern != "dense"]


def tensors(batch, heads, context, size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, heads, context, size)
    made = [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(3)]
    return [x.requires_grad_() for x in made]


@settings(max_examples=25, deadline=None)
@given(
    pattern=st.sampled_from(SPARSE),
    log_context=st.integers(2, 8),
    log_window=st.integers(0, 8),
    log_stride=st.integers(0, 8),
    batch=st.integers(1, 2),
    size=st.integers(1, 5),
)
def test_chunks_are_the_mask(pattern, log_context, log_window, log_stride, batch, size):
    context = 2**log_context
    window, stride = min(context, 2**log_window), min(context, 2**log_stride)
    q, k, v = tensors(batch, 2, context, size)
    mask = torch.from_numpy(visible(pattern, context, window, stride))
    found = chunked(q, k, v, pattern, window, stride)
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    weights = torch.randn(found.shape, dtype=found.dtype)
    ours = torch.autograd.grad((found * weights).sum(), (q, k, v))
    theirs = torch.autograd.grad((expected * weights).sum(), (q, k, v))
    for one, two in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-8, atol=1e-10)


def test_chunks_of_a_window_that_is_no_power_of_two():
    q, k, v = (x.float() for x in tensors(1, 1, 24, 3))
    for window, stride in ((6, 8), (24, 3), (1, 24)):
        mask = torch.from_numpy(visible("local+strided", 24, window, stride))
        expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        torch.testing.assert_close(
            chunked(q, k, v, "local+strided", window, stride), expected, rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_is_causal_and_sees_itself(pattern):
    mask = visible(pattern, 24, 6, 8)
    assert not np.triu(mask, 1).any()
    assert mask.diagonal().all()
    assert visible_pairs(pattern, 24, 6, 8) == mask.sum()


def test_each_query_sees_the_stated_keys():
    assert np.flatnonzero(visible("local", 16, 4, 8)[9]).tolist() == [6, 7, 8, 9]
    assert np.flatnonzero(visible("strided", 16, 4, 4)[9]).tolist() == [1, 5, 9]
    assert np.flatnonzero(visible("local+strided", 16, 2, 4)[9]).tolist() == [1, 5, 8, 9]
    assert np.flatnonzero(visible("fixed", 16, 4, 4)[9]).tolist() == [3, 7, 8, 9]
    assert np.flatnonzero(visible("dense", 16, 4, 4)[3]).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("pattern", SPARSE)
def test_where_few_keys_are_seen_they_are_chunked(pattern):
    attention = Attention(pattern, 32, 64)
    assert not Attention("local+strided", 64, 64).chunks(128, "cpu")
    assert attention.chunks(512, "cpu")
    assert not attention.chunks(512, "cuda")
    assert attention.chunked_keys(512) < 256
    q, k, v = (x.float() for x in tensors(1, 1, 512, 4))
    mask = torch.from_numpy(visible(pattern, 512, 32, 64))
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(attention(q, k, v), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("pattern", "window", "stride", "wrong"),
    [("local", 30, 64, "window"), ("strided", 32, 60, "stride"), ("fixed", 32, 0, "stride"),
     ("local+strided", 512, 64, "window")],
)  # fmt: skip
def test_windows_and_strides_must_divide_the_context(pattern, window, stride, wrong):
    with pytest.raises(MstError, match=f"{wrong}: got .* divisor of the context 256; take"):
        check_pattern(pattern, 256, window, stride)


def test_what_a_pattern_does_not_use_may_be_anything():
    check_pattern("local", 256, 32, 60)
    check_pattern("dense", 256, 3, 7)
