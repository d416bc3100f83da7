"""What an attention pattern is: a class that says which keys a query sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from marl_common import BoolArray, IntArray
from mst.errors import MstError

if TYPE_CHECKING:
    from torch import Tensor, nn

PRODUCTS, AGAIN = 12, 2
"""Operations of a pair of query and key for each of a head's features, forward and backward: 4 for
the score and the mixed value, twice that backward; and for a score that backward computes anew."""


class Sizes(NamedTuple):
    """Lengths that patterns share.

    Attributes:
        window: Keys of the local part, the query's own included.
        stride: s.
    """

    window: int
    stride: int


class AttentionFlops(NamedTuple):
    """Operations of one window, forward and backward.

    Attributes:
        needed: Of the pairs that the pattern has.
        executed: Of what is computed, scores that backward computes anew included.
    """

    needed: int
    executed: int


class Pattern:
    """Which earlier keys a query sees; a subclass says which.

    Attributes:
        uses: Which of :class:`Sizes` it depends on; those divide the context.
        by_distance: Whether a key is seen by its distance alone: the compiled kernel then skips
            all others on a processor.
        keeps_scores: Whether its own way to compute keeps scores for the backward pass.
    """

    uses: ClassVar[tuple[str, ...]] = ()
    by_distance: ClassVar[bool] = False
    keeps_scores: ClassVar[bool] = False

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """Whether queries see keys, later ones aside, which none ever does.

        Args:
            query: ``(T, 1)`` places of queries.
            key: ``(1, T)`` places of keys.
            sizes: Window and stride of the run.

        Returns:
            ``(T, T)``; a query that sees itself.
        """
        raise NotImplementedError

    def check(self, context: int, sizes: Sizes) -> None:
        """Refuse lengths that do not divide the context.

        Raises:
            MstError: One does not; names the nearest that does.
        """
        for name in self.uses:
            check_divides(name, getattr(sizes, name), context)

    def computed_pairs(self, context: int, sizes: Sizes) -> int | None:
        """Pairs that :meth:`attend` computes for a window; None where there is no such way."""
        return None

    def attend(self, q: Tensor, k: Tensor, v: Tensor, sizes: Sizes) -> Tensor:
        """Attend without hidden keys, three ``(B, H, T, dh)`` to one."""
        raise NotImplementedError

    def module(self, heads: int, context: int) -> nn.Module | None:
        """What a block learns for this pattern, called with T: ``(H, T, T)`` added to scores."""
        return None

    def flops(self, width: int, pairs: int, computed: int) -> AttentionFlops:
        """Operations of one window in one block.

        Args:
            width: Features of all heads.
            pairs: Pairs of query and key that the pattern has.
            computed: Pairs that are computed.
        """
        each = PRODUCTS + (0 if self.keeps_scores else AGAIN)
        return AttentionFlops(PRODUCTS * width * pairs, each * width * computed)


class Dense(Pattern):
    """All earlier keys."""

    def sees(self, query: IntArray, key: IntArray, sizes: Sizes) -> BoolArray:
        """See :meth:`Pattern.sees`."""
        return np.ones(np.broadcast_shapes(query.shape, key.shape), dtype=np.bool_)


def check_divides(name: str, value: int, context: int) -> None:
    """Refuse a length that does not divide the context.

    Raises:
        MstError: It does not; names the nearest that does.
    """
    if not 1 <= value <= context or context % value:
        divisors = [d for d in range(1, context + 1) if context % d == 0]
        near = min(divisors, key=lambda d: abs(d - value))
        raise MstError(
            f"{name}: got {value}, expected a divisor of the context {context}; take {near}"
        )


def places(context: int) -> tuple[IntArray, IntArray]:
    """``(T, 1)`` places of queries and ``(1, T)`` of keys."""
    return np.arange(context)[:, None], np.arange(context)[None, :]
