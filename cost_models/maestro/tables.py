"""The static tables of a level: elements of a tile, of an edge tile, and what is new in each.

MAESTRO derives them once per level (`AnalyzeInputMappingSizes` and `AnalyzeOutputMappingSizes` in
`CA_reuse-analysis.hpp`, `AnalyzeSpatialEdgeCase` in `DFA_cluster-unit.hpp`).
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    BIT,
    COUNT,
    COUPLED,
    EDGE_UNITS,
    EXTENTS,
    FIRST,
    IN_FILTER,
    IN_INPUT,
    IN_OUTPUT,
    LAST,
    LAST_NEW,
    MADE,
    MADE_LAST,
    MASK_FILTER,
    MASK_INPUT,
    MASK_OUTPUT,
    NEW,
    O_LAST,
    O_LAST_NEW,
    O_NEW,
    O_TILE,
    OFFSET,
    SPATIAL,
    TILE,
    UNITS,
    VAR,
    R,
    S,
    X,
    Y,
)
from marl_common import IntArray, part


@part
def fill_tables(layer: IntArray, at: int, work: IntArray) -> None:
    """Fill the rows of a level from its maps and its extents, which are in `EXTENTS`.

    Args:
        layer: ``(LAYER_ENTRIES,)``.
        at: Start of the level's block.
        work: ``(WORK_SIZE,)``, see `layout`.
    """
    rows = columns = -1
    for d in range(work[at + COUNT]):
        var = work[at + VAR + d]
        extent = work[EXTENTS + var]
        _fill_input(at, d, extent, work)
        work[at + COUPLED + d] = _coupled(layer, var)
        if var == R:
            rows = d
        elif var == S:
            columns = d
    first = work[at + FIRST]
    extent = work[EXTENTS + work[at + VAR + first]]
    work[at + EDGE_UNITS] = _edge_units(
        extent, work[at + TILE + first], work[at + OFFSET + first], work[at + UNITS]
    )
    for d in range(work[at + COUNT]):
        var = work[at + VAR + d]
        if var >= X:
            _fill_output(at, d, rows if var == Y else columns, work)
        output = work[at + COUPLED + d] & IN_OUTPUT
        work[at + MADE + d] = work[at + (O_TILE if output else TILE) + d]
        work[at + MADE_LAST + d] = work[at + (O_LAST if output else LAST) + d]


@part
def _fill_input(at: int, d: int, extent: int, work: IntArray) -> None:
    """Elements along a map; those of the output are the same, X and Y apart."""
    size, offset = work[at + TILE + d], work[at + OFFSET + d]
    steps = (extent - size) // offset if extent > size else 0
    rest = extent - (steps + 1) * offset
    if rest < 0:
        rest = extent
    last = rest if steps * offset + size < extent or size > extent else size
    still = extent <= size and not work[at + SPATIAL + d]
    work[at + O_TILE + d] = size
    work[at + LAST + d] = work[at + O_LAST + d] = last
    work[at + NEW + d] = work[at + O_NEW + d] = 0 if still else min(size, offset)
    work[at + LAST_NEW + d] = work[at + O_LAST_NEW + d] = max(offset - (size - rest), 0)
    work[at + BIT + d] = 1 << d if last != size else 0


@part
def _fill_output(at: int, d: int, taps: int, work: IntArray) -> None:
    """Output rows or columns along a map of Y or X; `taps` is the map of R or S, or -1."""
    size, offset = work[at + TILE + d], work[at + OFFSET + d]
    tile = work[at + TILE + taps] if taps >= 0 else 1
    last = work[at + LAST + d] - (work[at + LAST + taps] if taps >= 0 else 1) + 1
    work[at + O_TILE + d] = size - tile + 1
    work[at + O_LAST + d] = last
    work[at + O_NEW + d] = min(offset, size)
    work[at + O_LAST_NEW + d] = min(offset, last)


@part
def _coupled(layer: IntArray, var: int) -> int:
    """The tensors that a variable is coupled to, as a set."""
    coupled = IN_INPUT if (layer[MASK_INPUT] >> var) & 1 else 0
    coupled |= IN_FILTER if (layer[MASK_FILTER] >> var) & 1 else 0
    coupled |= IN_OUTPUT if (layer[MASK_OUTPUT] >> var) & 1 else 0
    return int(coupled)


@part
def _edge_units(extent: int, size: int, offset: int, units: int) -> int:
    """Sub-clusters at work in the last spatial step (`AnalyzeSpatialEdgeCase`)."""
    if extent <= size:
        return 1
    steps = (extent - size) // offset + 1
    if extent <= offset * (units - 1) + size:
        return steps + (1 if offset * (steps - 1) + size < extent else 0)
    rest = extent - steps // units * offset * units
    return 1 if rest < size else (rest - size) // offset + 1
