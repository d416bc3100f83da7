"""Sparse attention: who sees whom, and visible keys alone against all under a mask."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from torch.nn.functional import scaled_dot_product_attention

from mst.attention import PATTERNS, Attention, distances, visible, visible_pairs
from mst.attention.fixed import fixed_attention
from sparse_training import offset_attention

BY_DISTANCE = [pattern for pattern in PATTERNS if Attention(pattern).rule.by_distance]
SPARSE = [*BY_DISTANCE, "fixed", "blocks", "blocks:32"]


def drawn(windows, heads, context, size, dtype=torch.float64, seed=0):
    """Queries, keys and values, features first."""
    generator = torch.Generator().manual_seed(seed)
    shape = (3 * heads * size, windows * context)
    return torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()


def masked(qkv, heads, windows, mask):
    """The fused product under a mask."""
    q, k, v = qkv.view(3, heads, -1, windows, len(mask)).permute(0, 3, 1, 4, 2)
    mixed = scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(mask))
    return mixed.permute(1, 3, 0, 2).reshape(-1, qkv.shape[1])


def same_with_gradients(qkv, found, expected, tolerance):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    weights = torch.randn(found.shape, dtype=found.dtype)
    ours, theirs = (torch.autograd.grad((y * weights).sum(), qkv)[0] for y in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=10 * tolerance, atol=10 * tolerance)


@settings(max_examples=25, deadline=None)
@given(
    pattern=st.sampled_from(BY_DISTANCE),
    context=st.integers(1, 200),
    window=st.integers(1, 200),
    stride=st.integers(1, 200),
)
def test_distances_are_the_mask(pattern, context, window, stride):
    window, stride = min(context, window), min(context, stride)
    apart = np.arange(context)[:, None] - np.arange(context)
    seen = np.isin(apart, distances(pattern, context, window, stride))
    assert (seen == visible(pattern, context, window, stride)).all()


@settings(max_examples=15, deadline=None)
@given(stride=st.integers(1, 16), blocks=st.integers(1, 16), windows=st.integers(1, 2))
def test_blocks_are_the_mask(stride, blocks, windows):
    context = stride * blocks
    qkv = drawn(windows, 2, context, 3)
    parts = qkv.view(3, 2, 3, windows, context).permute(0, 3, 1, 4, 2)
    found = fixed_attention(*(part.contiguous() for part in parts), stride)
    found = found.permute(1, 3, 0, 2).reshape(-1, windows * context)
    expected = masked(qkv, 2, windows, visible("fixed", context, 1, stride))
    same_with_gradients(qkv, found, expected, 1e-10)


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
def test_where_few_keys_are_seen_hidden_ones_are_skipped(pattern):
    attention = Attention(pattern, 32, 64)
    assert not Attention("local+strided", 128, 64).skips(128, "cpu")
    assert attention.skips(512, "cpu")
    assert not attention.skips(512, "cuda")
    pairs = visible_pairs(pattern, 512, 32, 64)
    assert pairs <= attention.computed_pairs(512) <= 512**2 / 2
    qkv = drawn(2, 2, 512, 4, torch.float32)
    expected = masked(qkv, 2, 2, visible(pattern, 512, 32, 64))
    same_with_gradients(qkv, attention(qkv, 2, 2), expected, 1e-5)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_where_many_are_seen_a_mask_hides_the_others(pattern):
    qkv = drawn(2, 3, 32, 4)
    attention = Attention(pattern, 32, 32)
    expected = masked(qkv, 3, 2, visible(pattern, 32, 32, 32))
    same_with_gradients(qkv, attention(qkv, 3, 2), expected, 1e-10)


def test_hidden_keys_change_nothing():
    """Not even an infinite one: query 9 of each window sees keys 7 to 9 alone."""
    qkv = drawn(2, 1, 16, 2, torch.float32).detach()
    found = offset_attention(qkv, 1, 2, (0, 1, 2))
    qkv[2:, 16 : 16 + 7] = torch.inf
    again = offset_attention(qkv, 1, 2, (0, 1, 2))
    assert torch.equal(found[:, :16], again[:, :16])
    assert torch.equal(found[:, 16 + 9 :], again[:, 16 + 9 :])
