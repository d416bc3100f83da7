"""The keys of a query's own block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marl_common import BoolArray, IntArray
from mst.attention.pattern import Pattern, Sizes, check_divides

if TYPE_CHECKING:
    from torch import Tensor


class Blocks(Pattern):
    """Earlier keys of the same block: an example of a pattern with a number of its own.

    Args:
        size: Keys of a block; divides the context.
    """

    def __init__(self, size: int = 64) -> None:
        if not (isinstance(size, int) and size > 0):
            raise ValueError(f"size {size}, expected a whole number from 1")
        self._size = size

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        return np.asarray(query // self._size == key // self._size)

    def check(self, context: int, sizes: Sizes) -> None:
        """See :meth:`Pattern.check`."""
        check_divides("attention blocks", self._size, context)

    def computed_pairs(self, context: int, sizes: Sizes) -> int:
        """See :meth:`Pattern.computed_pairs`."""
        return context * (self._size + 1) // 2

    def attend(self, q: Tensor, k: Tensor, v: Tensor, sizes: Sizes) -> Tensor:
        """Attend inside each block, see :meth:`Pattern.attend`."""
        from torch.nn.functional import scaled_dot_product_attention

        def own(x: Tensor) -> Tensor:
            return x.reshape(-1, 1, self._size, x.shape[-1])

        mixed = scaled_dot_product_attention(own(q), own(k), own(v), is_causal=True)
        return mixed.reshape(q.shape)
