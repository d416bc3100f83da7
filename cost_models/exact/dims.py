"""Per-dimension tables: how one dimension is cut into outer steps, inner steps and PEs."""

from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    BLOCK,
    BLOCKS,
    CLASSES,
    COUNT,
    EXTENT,
    INNER,
    INNER_WIDTH,
    LEAD,
    LEAD_SUM,
    MAX_SEGMENTS,
    OUTER,
    OUTER_WIDTH,
    OVER,
    PE_TILE,
    PLACES,
    PLACES_FIRST,
    PLACES_J0,
    POSITIONS,
    REPEAT,
    SEGMENTS,
    SPAN,
    STEPS,
    STILL,
    UNION,
    IntTable,
    SegTable,
)


@inner_function
def fill_segment(
    segs: SegTable,
    d: int,
    key: int,
    repeat: int,
    block: int,
    full: int,
    ragged: int,
    t0: int,
    inner_spatial: bool,
    gap: int,
) -> None:
    """Describe inner iterations in which `full` clusters hold `block` and one holds `ragged`.

    Rows that outputs and taps touch repeat themselves `gap` places further on: for a range of
    outputs that is the distance of taps, for a range of taps that of outputs.
    """
    lead = min(t0, block)
    segs[d, key, REPEAT] = repeat
    segs[d, key, LEAD] = lead
    segs[d, key, UNION] = full * block + ragged
    segs[d, key, BLOCKS] = full + (1 if ragged > 0 else 0)
    segs[d, key, BLOCK] = block
    if not inner_spatial:
        segs[d, key, POSITIONS] = full + (1 if ragged > 0 else 0)
        segs[d, key, OVER] = full * max(block - gap, 0) + max(ragged - gap, 0)
        return
    whole = block // t0
    part = block - whole * t0
    whole_ragged = ragged // t0
    part_ragged = ragged - whole_ragged * t0
    wholes = full * whole + whole_ragged
    segs[d, key, POSITIONS] = wholes + (full if part > 0 else 0) + (1 if part_ragged > 0 else 0)
    segs[d, key, OVER] = (
        wholes * max(t0 - gap, 0) + full * max(part - gap, 0) + max(part_ragged - gap, 0)
    )


@inner_function
def fill_class(
    dims: IntTable,
    segs: SegTable,
    d: int,
    kind: int,
    tile: int,
    full: int,
    ragged: int,
    t0: int,
    w: int,
    inner_spatial: bool,
    gap: int,
) -> None:
    """Cut one outer step into segments of like inner iterations, at most four.

    Args:
        dims: Dimension table; gets the number of inner iterations and of segments.
        segs: Segment table; gets the segments.
        d: The dimension.
        kind: Class of the outer step.
        tile: Cluster 0's tile.
        full: Clusters that hold a tile of that size.
        ragged: Tile of one more cluster, smaller than `tile`; 0 where there is none.
        t0: Tile of one PE.
        w: What one cluster covers in an inner iteration.
        inner_spatial: Whether the PEs of a cluster are spread over this dimension.
        gap: See `fill_segment`.
    """
    key = MAX_SEGMENTS * kind
    wholes = tile // w
    rest = tile - wholes * w
    steps = wholes + (1 if rest > 0 else 0)
    ragged_wholes = ragged // w
    ragged_rest = ragged - ragged_wholes * w
    segments = 0
    step = 0
    while step < steps:
        block = w if step < wholes else rest
        part = 0
        repeat = max(wholes - step, 1)
        if step < ragged_wholes:
            part = w
            repeat = ragged_wholes - step
        elif step == ragged_wholes and ragged_rest > 0:
            part = ragged_rest
            repeat = 1
        fill_segment(segs, d, key + segments, repeat, block, full, part, t0, inner_spatial, gap)
        segments += 1
        step += repeat
    dims[d, INNER + kind] = steps
    dims[d, SEGMENTS + kind] = segments


@inner_function
def fill_sums(dims: IntTable, segs: SegTable, d: int) -> None:
    """Sum the segments of a dimension over all steps, and over the still ones."""
    steps = 0
    lead = 0
    places = 0
    places_j0 = 0
    still = 0
    for kind in range(dims[d, CLASSES]):
        count = dims[d, COUNT + kind]
        first = MAX_SEGMENTS * kind
        steps += count * dims[d, INNER + kind]
        places_j0 += count * segs[d, first, POSITIONS]
        for key in range(first, first + dims[d, SEGMENTS + kind]):
            times = count * segs[d, key, REPEAT]
            lead += times * segs[d, key, LEAD]
            places += times * segs[d, key, POSITIONS]
        if dims[d, INNER + kind] == 1:
            still += count * segs[d, first, UNION]
    dims[d, STEPS] = steps
    dims[d, LEAD_SUM] = lead
    dims[d, PLACES] = places
    dims[d, PLACES_J0] = places_j0
    dims[d, PLACES_FIRST] = segs[d, 0, POSITIONS]
    dims[d, STILL] = dims[d, EXTENT]
    dims[d, STILL + 1] = still


@inner_function
def fill_dim(
    dims: IntTable,
    segs: SegTable,
    d: int,
    n: int,
    t1: int,
    t0: int,
    clusters: int,
    pes: int,
    gap: int,
) -> None:
    """Fill both tables for one dimension.

    Args:
        dims: Dimension table, ``(dimensions, DIM_FIELDS)``.
        segs: Segment table, ``(dimensions, 8, SEG_FIELDS)``.
        d: The dimension.
        n: Its extent.
        t1: Tile of one cluster, at most `n`.
        t0: Tile of one PE, at most `t1`.
        clusters: Clusters spread over this dimension; 1 where it is temporal.
        pes: PEs of a cluster spread over it; 0 where it is temporal.
        gap: See `fill_segment`.
    """
    width = t1 * clusters
    outer = (n + width - 1) // width
    last = n - (outer - 1) * width
    inner_spatial = pes > 0
    w = t0 * pes if inner_spatial else t0
    classes = 2 if last < width and outer > 1 else 1
    dims[d, EXTENT] = n
    dims[d, OUTER] = outer
    dims[d, CLASSES] = classes
    dims[d, INNER_WIDTH] = w
    dims[d, OUTER_WIDTH] = width
    dims[d, PE_TILE] = t0
    for kind in range(classes):
        final = kind == classes - 1
        span = last if final else width
        dims[d, COUNT + kind] = (outer if classes == 1 else 1) if final else outer - 1
        dims[d, SPAN + kind] = span
        tile = min(span, t1)
        full = span // tile
        fill_class(dims, segs, d, kind, tile, full, span - full * tile, t0, w, inner_spatial, gap)
    fill_sums(dims, segs, d)
