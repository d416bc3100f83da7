"""Which dimensions are the outputs and the taps of rows (pair 0) and of columns (pair 1)."""

from __future__ import annotations

from cost_models.exact.records import PAIRS, P
from marl_common import part


@part
def output_dim(pair: int) -> int:
    """The dimension of a pair's outputs."""
    return P + pair


@part
def tap_dim(pair: int) -> int:
    """The dimension of a pair's taps."""
    return P + PAIRS + pair


@part
def pair_of(d: int) -> int:
    """The pair that a dimension belongs to, or -1."""
    return (d - P) % PAIRS if P <= d < P + 2 * PAIRS else -1
