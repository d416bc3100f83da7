"""Sets of structures as boxes of tile positions, and how a box is split in two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import compiled
from layers import DIMS

TAPS = (DIMS.index("R"), DIMS.index("S"))
LEAF = -1
"""Instead of a split: every dimension has one tile."""


@compiled(nogil=True)
def split_boxes(
    boxes: Any, tiles: NDArray[np.float64], children: Any, splits: NDArray[np.int8], in_turn: bool
) -> int:
    """Split each box in two at the middle of its widest range.

    Args:
        boxes: ``(B, 4, D)``.
        tiles: ``(2, D, most)`` outer and inner tiles.
        children: Gets the halves, ``(2 B, 4, D)``; those of one box stand side by side.
        splits: Gets the split of each box, ``(B,)``: the dimension, plus `D` for inner tiles; or
            `LEAF`.
        in_turn: Whether outer and inner tiles are split in turn; else outer tiles come first.

    Returns:
        How many children there are.
    """
    count = 0
    for i in range(len(boxes)):
        splits[i] = widest(boxes[i], tiles, in_turn)
        if splits[i] == LEAF:
            continue
        for half in range(2):
            children[count] = boxes[i]
            cut(children[count], splits[i], half, tiles)
            count += 1
    return count


@compiled(nogil=True)
def widest(box: Any, tiles: NDArray[np.float64], in_turn: bool) -> int:
    """The split of a box: taps first, then the range of tiles with the largest ratio.

    While a filter may be cut, windows may keep nearly everything, so that bounds say little.
    """
    for d in TAPS:
        for level in range(2):
            if box[2 * level + 1, d] > box[2 * level, d]:
                return level * len(DIMS) + d
    found = LEAF
    most = 1.0
    dims = box.shape[1]
    for level in range(2):
        for d in range(dims):
            first, last = box[2 * level, d], box[2 * level + 1, d]
            if last > first and (level == 0 or splits_apart(box, d, tiles)):
                high = min(tiles[level, d, last], tiles[0, d, box[1, d]])
                ratio = max(high / tiles[level, d, first], 1.0)
                if found == LEAF or ratio > most:
                    found = level * dims + d
                    most = ratio
        if found != LEAF and not in_turn:
            break
    return found


@compiled(nogil=True)
def splits_apart(box: Any, d: int, tiles: NDArray[np.float64]) -> bool:
    """Whether a split of inner tiles leaves no inner tile in both halves.

    One at or above the outer tile counts as that: the lower half must stay below all outer tiles.
    """
    return bool(tiles[1, d, (box[2, d] + box[3, d]) // 2] < tiles[0, d, box[0, d]])


@compiled(nogil=True)
def cut(box: Any, split: int, half: int, tiles: NDArray[np.float64]) -> None:
    """Keep the lower (0) or upper (1) half of a range.

    Inner tiles at or above the largest outer one are the same; the first of them stands for all.
    """
    dims = box.shape[1]
    level, d = split // dims, split % dims
    middle = (box[2 * level, d] + box[2 * level + 1, d]) // 2
    if half == 0:
        box[2 * level + 1, d] = middle
    else:
        box[2 * level, d] = middle + 1
    if level == 0:
        while box[3, d] > box[2, d] and tiles[1, d, box[3, d] - 1] >= tiles[0, d, box[1, d]]:
            box[3, d] -= 1
