"""Which earlier keys a query sees.

Source: local, strided and fixed patterns as in Child et al., Generating long sequences with sparse
transformers, 2019; the strided one as MST's released code has it, (q - k) mod s = 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from common import BoolArray
from mst.errors import MstError

if TYPE_CHECKING:
    import torch

DENSE, LOCAL, STRIDED, BOTH, FIXED = "dense", "local", "strided", "local+strided", "fixed"
PATTERNS = (DENSE, LOCAL, STRIDED, BOTH, FIXED)


def check_pattern(pattern: str, context: int, window: int, stride: int) -> None:
    """Refuse a window or stride that does not divide the context, where the pattern uses it.

    Raises:
        MstError: It does not.
    """
    used = {LOCAL: ("window",), BOTH: ("window", "stride"), STRIDED: ("stride",),
            FIXED: ("stride",)}  # fmt: skip
    for name in used.get(pattern, ()):
        value = window if name == "window" else stride
        if not 1 <= value <= context or context % value:
            divisors = [d for d in range(1, context + 1) if context % d == 0]
            near = min(divisors, key=lambda d: abs(d - value))
            raise MstError(
                f"{name}: got {value}, expected a divisor of the context {context}; take {near}"
            )


@lru_cache(maxsize=32)
def visible(pattern: str, context: int, window: int, stride: int) -> BoolArray:
    """``(T, T)``: whether query q (row) sees key k (column); always causal, always itself.

    Args:
        pattern: One of `PATTERNS`. ``local``: 0 <= q - k < window. ``strided``: (q - k) mod s = 0.
            ``local+strided``: their union. ``fixed``: k in the same block of s, or k the last
            column of an earlier one.
        context: T.
        window: Keys of the local part, itself included.
        stride: s.
    """
    query, key = np.arange(context)[:, None], np.arange(context)[None, :]
    local = query - key < window
    strided = (query - key) % stride == 0
    columns = (query // stride == key // stride) | (key % stride == stride - 1)
    every = np.ones((context, context), dtype=np.bool_)
    seen = {DENSE: every, LOCAL: local, STRIDED: strided, BOTH: local | strided, FIXED: columns}
    return np.asarray((query >= key) & seen[pattern])


@lru_cache(maxsize=32)
def distances(pattern: str, context: int, window: int, stride: int) -> tuple[int, ...]:
    """How far behind a query the keys lie that it sees, rising; of no use to ``fixed``."""
    last = visible(pattern, context, window, stride)[-1]
    return tuple(np.flatnonzero(last[::-1]).tolist())


def visible_pairs(pattern: str, context: int, window: int, stride: int) -> int:
    """Pairs of query and key of one window that the pattern has: what attention must compute."""
    return int(visible(pattern, context, window, stride).sum())


@lru_cache(maxsize=32)
def mask_tensor(pattern: str, context: int, window: int, stride: int, device: str) -> torch.Tensor:
    """:func:`visible` on a device."""
    import torch

    return torch.from_numpy(visible(pattern, context, window, stride)).to(device)
