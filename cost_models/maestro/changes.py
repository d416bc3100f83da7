"""What a tensor's PEs load along temporal maps, by the innermost directive that moved.

`GetPEMappedVolume`, `GetPEIngressVolume` and `IsTensorInited` of `CA_reuse-analysis.hpp`.
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    ACTIVE,
    COUNT,
    COUPLED,
    DIRECTIVE,
    EXITS,
    FIRST,
    GIVEN,
    LAST,
    MAPPED,
    MAX_MAPS,
    NEW,
    SECOND,
    SPATIAL,
    TILE,
    VAR,
    WHOLE,
)
from marl_common import IntArray, part


@part
def fill_change(at: int, tensor: int, factor_row: int, variant_row: int, work: IntArray) -> None:
    """Fill a tensor's row of factors, and of variants of the spatial maps' multipliers.

    Where the tensor does not depend on the directive that moved, nothing is loaded; else what is
    new in its tile, or the whole tile where a directive inside starts anew. No directive has moved
    in the first case: the tile is mapped.

    Args:
        at: Start of the level's block.
        tensor: IN_INPUT or IN_FILTER.
        factor_row: Row of the factors.
        variant_row: Row of the variants; EXITS where the program exits.
        work: ``(WORK_SIZE,)``, see `layout`.
    """
    base = _mapped_volume(at, tensor, work)
    work[at + factor_row + MAX_MAPS] = base
    work[at + variant_row + MAX_MAPS] = MAPPED
    again = False
    for k in range(work[at + ACTIVE] - 1, -1, -1):
        d = work[at + DIRECTIVE + k]
        factor, variant = 0, WHOLE
        if work[at + COUPLED + d] & tensor:
            factor, variant = base, _variant(at, d, again, work)
            if not again and not work[at + SPATIAL + d]:
                factor = base // work[at + TILE + d] * work[at + NEW + d]
                if work[at + NEW + d] == 0:
                    variant = EXITS
            again = True
        work[at + factor_row + k] = factor
        work[at + variant_row + k] = variant


@part
def _mapped_volume(at: int, tensor: int, work: IntArray) -> int:
    """Elements of a tensor along the temporal maps (`GetPEMappedVolume`)."""
    volume = 1
    for d in range(work[at + COUNT]):
        if work[at + COUPLED + d] & tensor and not work[at + SPATIAL + d]:
            edge = work[at + GIVEN + work[at + VAR + d]] < work[at + TILE + d]
            volume *= work[at + (LAST if edge else TILE) + d]
    return volume


@part
def _variant(at: int, d: int, again: bool, work: IntArray) -> int:
    """Whether the spatial maps load whole tiles or new parts where directive `d` moves."""
    first, second = work[at + FIRST], work[at + SECOND]
    variant = WHOLE
    if first > d or (first == d and not again):
        variant += 2
    if second > d or (second == d and not again):
        variant += 1
    return variant
