"""Sets of structures as boxes of tile positions, and how a box is split in two."""

from __future__ import annotations

import numpy as np

from marl_common import FloatArray, Int8Array, Int16Array


def split_boxes(
    boxes: Int16Array, tiles: FloatArray, in_turn: bool
) -> tuple[Int16Array, Int8Array]:
    """Split each box in two at the middle of its widest range.

    Args:
        boxes: ``(B, 4, D)``.
        tiles: ``(2, D, most)`` outer and inner tiles.
        in_turn: Whether outer and inner tiles are split in turn; else outer tiles come first.

    Returns:
        The halves ``(n, 4, D)``, those of one box side by side; and the split of each box,
        ``(B,)``: the dimension, plus `D` for inner tiles; or `box_layout.LEAF`.
    """
    from baselines.optimal.kernel import split_rows

    children = np.empty((2 * len(boxes), *boxes.shape[1:]), dtype=np.int16)
    splits = np.empty(len(boxes), dtype=np.int8)
    most = tiles.shape[2]
    boxes = np.ascontiguousarray(boxes)
    count = split_rows(boxes, tiles, most, in_turn, children, splits, len(boxes))
    return children[:count], splits
