"""What one PE receives and makes along a spatial map.

The factors of `GetPEIngressVolume`, `GetPEMappedVolume` and `GetPEEgressVolume`
(`CA_reuse-analysis.hpp`). A PE is the *first* of its step, a further one, or the *partial* last.
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    COUPLED,
    IN_OUTPUT,
    LAST,
    LAST_NEW,
    MADE,
    MADE_LAST,
    NEW,
    O_LAST_NEW,
    O_NEW,
    PLAIN,
    SHORT,
    TAIL,
    TILE,
)
from marl_common import IntArray, part


@part
def received(
    at: int,
    d: int,
    pattern: int,
    variant: int,
    partial: bool,
    first: bool,
    edge_units: int,
    work: IntArray,
) -> int:
    """Elements along map `d` that one PE receives; variant 0 mapped, 1 whole, 2 new."""
    if variant == 0:
        if pattern == PLAIN:
            return work[at + TILE + d]
        if edge_units == 1:
            return work[at + LAST + d] if first or partial else 1
    if variant == 2 and not first:
        return work[at + (LAST_NEW if partial else NEW) + d]
    return work[at + (LAST if partial else TILE) + d]


@part
def made(
    at: int,
    d: int,
    pattern: int,
    partial: bool,
    first: bool,
    reuse: bool,
    edge_units: int,
    work: IntArray,
) -> int:
    """Outputs along map `d` that one PE makes (or MACs, where the output is not coupled to it).

    In the last step of a single PE, MAESTRO counts input rows instead of output rows.
    """
    if pattern >= TAIL and edge_units == 1:
        return work[at + LAST + d] if first or partial else 1
    if partial and pattern != PLAIN:
        return _made_by_partial(at, d, pattern, reuse, edge_units, work)
    if first:
        return work[at + MADE + d]
    new = work[at + (O_NEW if work[at + COUPLED + d] & IN_OUTPUT else NEW) + d]
    return new if new != 0 else 1


@part
def _made_by_partial(
    at: int, d: int, pattern: int, reuse: bool, edge_units: int, work: IntArray
) -> int:
    output = work[at + COUPLED + d] & IN_OUTPUT != 0
    if pattern == SHORT and (edge_units == 1 or not output or not reuse):
        return work[at + MADE_LAST + d]
    return work[at + (O_LAST_NEW if output else LAST_NEW) + d]
