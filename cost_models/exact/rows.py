"""Input rows (or columns) that output rows and filter taps touch together.

Output `y` and tap `t` touch row ``stride * y + step * t``. Where `stride` and `step` have no common
divisor, two touch the same row only if they lie `step` outputs and `stride` taps apart.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    BLOCK,
    BLOCKS,
    OVER,
    UNION,
    IntTable,
    SegTable,
)


@inner_function
def footprint(outputs: int, taps: int, stride: int, step: int) -> int:
    """Rows that a range of outputs and a range of taps touch."""
    return outputs * taps - max(outputs - step, 0) * max(taps - stride, 0)


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
    """Distinct rows all PEs touch in a step, where taps lie next to each other (no dilation)."""
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
    pairs = segs[axis, key, UNION] * segs[taps, taps_key, UNION]
    return pairs - segs[axis, key, OVER] * segs[taps, taps_key, OVER]
