"""The attention patterns by name.

Source: local, strided and fixed patterns as in Child et al., Generating long sequences with sparse
transformers, 2019; the strided one as MST's released code has it, (q - k) mod s = 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from marl_common import BoolArray, IntArray
from mst.attention.blocks import Blocks
from mst.attention.fixed import Fixed
from mst.attention.pattern import Dense, Pattern, Sizes, places
from sparse_training import NamedParts

if TYPE_CHECKING:
    import torch


class Local(Pattern):
    """0 <= q - k < window."""

    uses = ("window",)
    by_distance = True

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        return np.asarray(query - key < sizes.window)


class Strided(Pattern):
    """(q - k) mod s = 0."""

    uses = ("stride",)
    by_distance = True

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        return np.asarray((query - key) % sizes.stride == 0)


class LocalAndStrided(Pattern):
    """Their union."""

    uses = ("window", "stride")
    by_distance = True

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        behind = query - key
        return np.asarray((behind < sizes.window) | (behind % sizes.stride == 0))


def _span(*numbers: int) -> Pattern:
    from mst.attention.span import LearnedSpan  # imports torch

    return LearnedSpan(*numbers)


DENSE = "dense"
PATTERNS: NamedParts[Pattern] = NamedParts(
    "attention",
    Pattern,
    {
        DENSE: Dense,
        "local": Local,
        "strided": Strided,
        "local+strided": LocalAndStrided,
        "fixed": Fixed,
        "blocks": Blocks,
        "span": _span,
    },
)
"""Patterns by name; some take numbers: ``blocks:64``."""


def check_pattern(pattern: str, context: int, window: int, stride: int) -> None:
    """Refuse a window, stride or number that does not divide the context, where it is used.

    Raises:
        MstError: It does not.
        SparseTrainingError: There is no such pattern.
    """
    PATTERNS.make(pattern).check(context, Sizes(window, stride))


@lru_cache(maxsize=32)
def visible(pattern: str, context: int, window: int, stride: int) -> BoolArray:
    """``(T, T)``: whether query q (row) sees key k (column); always causal, always itself.

    Args:
        pattern: One of `PATTERNS`.
        context: T.
        window: Keys of the local part, itself included.
        stride: s.
    """
    query, key = places(context)
    seen = PATTERNS.make(pattern).sees(query, key, Sizes(window, stride))
    return np.asarray((query >= key) & seen | (query == key))


@lru_cache(maxsize=32)
def distances(pattern: str, context: int, window: int, stride: int) -> tuple[int, ...]:
    """How far behind a query the keys lie that it sees, rising; of patterns by distance."""
    last = visible(pattern, context, window, stride)[-1]
    return tuple(np.flatnonzero(last[::-1]).tolist())


@lru_cache(maxsize=256)
def visible_pairs(pattern: str, context: int, window: int, stride: int) -> int:
    """Pairs of query and key of one window that the pattern has: what attention must compute."""
    return int(visible(pattern, context, window, stride).sum())


@lru_cache(maxsize=32)
def mask_tensor(pattern: str, context: int, window: int, stride: int, device: str) -> torch.Tensor:
    """:func:`visible` on a device."""
    import torch

    return torch.from_numpy(visible(pattern, context, window, stride)).to(device)
