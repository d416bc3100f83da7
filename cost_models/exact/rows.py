"""Input rows (or columns) that output rows and filter taps touch together.

`p` outputs and `r` taps touch ``p * min(stride, r) + max(r - stride, 0)`` rows; this holds for
``r < stride`` too, where the rows have holes.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common.jit import inner_function
from cost_models.exact.layout import (
    BLOCK,
    BLOCKS,
    CLASSES,
    COUNT,
    HOLE,
    INNER,
    MAX_SEGMENTS,
    POSITIONS,
    REPEAT,
    SEGMENTS,
    TAIL,
    UNION,
    IntTable,
    R,
    RowTable,
    SegTable,
    Y,
)


@inner_function
def footprint(outputs: int, taps: int, stride: int) -> int:
    """Rows that a range of outputs and a range of taps touch."""
    return outputs * min(stride, taps) + max(taps - stride, 0)


@inner_function
def scattered(outputs: int, taps: int, blocks: int, block: int, pitch: int, stride: int) -> int:
    """Rows touched where the taps lie in blocks with gaps (filter taps spread over clusters).

    A tap adds `outputs` rows to those of its residue class, less what the next tap of the class
    covers too.

    Args:
        outputs: Length of the contiguous range of outputs.
        taps: Taps in all blocks.
        blocks: Number of blocks.
        block: Taps of every block but the last, which holds the rest.
        pitch: Distance between the starts of two blocks.
        stride: Stride of the filter.
    """
    last = taps - (blocks - 1) * block
    end = (blocks - 1) * pitch + last
    rows = 0
    for b in range(blocks):
        length = block if b < blocks - 1 else last
        for tap in range(b * pitch, b * pitch + length):
            added = outputs
            distance = 1
            after = tap + stride
            while after < end and distance < outputs:
                owner = after // pitch
                length_there = block if owner < blocks - 1 else last
                if after - owner * pitch < length_there:
                    added = distance
                    break
                distance += 1
                after += stride
            rows += added
    return rows


@inner_function
def union_rows(
    segs: SegTable, axis: int, key: int, taps: int, taps_key: int, t1: IntTable, stride: int
) -> int:
    """Distinct rows all PEs touch in a step of one segment of `axis` and one of its taps."""
    outputs = segs[axis, key, UNION]
    r = segs[taps, taps_key, UNION]
    r_blocks = segs[taps, taps_key, BLOCKS]
    if r_blocks > 1 and segs[taps, taps_key, BLOCK] < t1[taps]:
        return scattered(outputs, r, r_blocks, segs[taps, taps_key, BLOCK], t1[taps], stride)
    blocks = segs[axis, key, BLOCKS]
    tail = r - stride
    rows = outputs * min(stride, r)
    if tail > 0:
        rows += tail * blocks
        if blocks > 1:
            shared = tail - stride * (t1[axis] - segs[axis, key, BLOCK])
            if shared > 0:
                rows -= (blocks - 1) * shared
    return rows


@inner_function
def tile_rows(segs: SegTable, axis: int, key: int, taps: int, taps_key: int) -> int:
    """Rows summed over the PE positions of an axis and of its taps, shared rows once a PE."""
    return (
        segs[axis, key, UNION] * segs[taps, taps_key, HOLE]
        + segs[axis, key, POSITIONS] * segs[taps, taps_key, TAIL]
    )


@inner_function
def fill_rows(
    rows: RowTable,
    pair: int,
    dims: IntTable,
    segs: SegTable,
    t1: IntTable,
    stride: int,
    tile: bool,
) -> None:
    """Tabulate the rows of every pair of segments: ``rows[pair, key of axis, key of taps]``.

    Pair 0 is rows (Y and R), pair 1 columns (X and S). ``rows[pair]`` holds what crosses the NoC
    (distinct rows, or those of every tile where `tile`), ``rows[2 + pair]`` the distinct rows.
    """
    axis = Y + pair
    taps = R + pair
    for kind in range(dims[axis, CLASSES]):
        first = MAX_SEGMENTS * kind
        for key in range(first, first + dims[axis, SEGMENTS + kind]):
            for taps_kind in range(dims[taps, CLASSES]):
                taps_first = MAX_SEGMENTS * taps_kind
                for taps_key in range(taps_first, taps_first + dims[taps, SEGMENTS + taps_kind]):
                    union = union_rows(segs, axis, key, taps, taps_key, t1, stride)
                    rows[2 + pair, key, taps_key] = union
                    if tile:
                        union = tile_rows(segs, axis, key, taps, taps_key)
                    rows[pair, key, taps_key] = union


@inner_function
def fill_row_sums(
    sums: RowTable, rows: RowTable, pair: int, dims: IntTable, segs: SegTable
) -> None:
    """Sum the distinct rows over steps: ``sums[pair, subset of axis, subset of taps]``.

    Subset 0 is all steps, subset 1 the still ones.
    """
    axis = Y + pair
    taps = R + pair
    total = 0
    still_axis = 0
    still_taps = 0
    still_both = 0
    for kind in range(dims[axis, CLASSES]):
        first = MAX_SEGMENTS * kind
        still = dims[axis, INNER + kind] == 1
        for key in range(first, first + dims[axis, SEGMENTS + kind]):
            times = dims[axis, COUNT + kind] * segs[axis, key, REPEAT]
            for taps_kind in range(dims[taps, CLASSES]):
                taps_first = MAX_SEGMENTS * taps_kind
                taps_still = dims[taps, INNER + taps_kind] == 1
                for taps_key in range(taps_first, taps_first + dims[taps, SEGMENTS + taps_kind]):
                    value = (
                        times
                        * dims[taps, COUNT + taps_kind]
                        * segs[taps, taps_key, REPEAT]
                        * rows[2 + pair, key, taps_key]
                    )
                    total += value
                    if still:
                        still_axis += value
                        if taps_still:
                            still_both += value
                    if taps_still:
                        still_taps += value
    sums[pair, 0, 0] = total
    sums[pair, 1, 0] = still_axis
    sums[pair, 0, 1] = still_taps
    sums[pair, 1, 1] = still_both
