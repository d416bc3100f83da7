"""The compiled entry points: how boxes are split in two, and chains of the places that hold them.

A box is ``(4, WIDTH)`` positions of the first and last outer tile, and of the inner ones, likewise.
Tiles are ``(2, WIDTH, most)``, outer and inner, ascending.
"""

from __future__ import annotations

import math

from baselines.optimal.box_layout import BANDS, LEAF, NONE, TAPS, WIDTH
from marl_common import FloatArray, Int8Array, Int16Array, IntArray, entry, part


@entry
def split_rows(
    boxes: Int16Array,
    tiles: FloatArray,
    most: int,
    in_turn: bool,
    children: Int16Array,
    splits: Int8Array,
    count: int,
) -> int:
    """Split each of `count` boxes; returns how many halves `children` got, see `split_boxes`."""
    found = 0
    for i in range(count):
        split = widest(boxes, 4 * WIDTH * i, tiles, most, in_turn)
        splits[i] = split
        if split == LEAF:
            continue
        for half in range(2):
            start = 4 * WIDTH * found
            for place in range(4 * WIDTH):
                children[start + place] = boxes[4 * WIDTH * i + place]
            cut(children, start, split, half, tiles, most)
            found += 1
    return found


@part
def widest(boxes: Int16Array, start: int, tiles: FloatArray, most: int, in_turn: bool) -> int:
    """The split of a box: taps first, then the range of tiles with the largest ratio.

    While a filter may be cut, windows may keep nearly everything, so that bounds say little.
    """
    for tap in range(2):
        for level in range(2):
            first = start + 2 * WIDTH * level + TAPS[tap]
            if boxes[first + WIDTH] > boxes[first]:
                return level * WIDTH + TAPS[tap]
    found, largest = LEAF, 1.0
    for level in range(2):
        for d in range(WIDTH):
            first = start + 2 * WIDTH * level + d
            low, high = boxes[first], boxes[first + WIDTH]
            if high <= low or (level == 1 and not splits_apart(boxes, start, d, tiles, most)):
                continue
            mine, outer = (level * WIDTH + d) * most, boxes[start + WIDTH + d]
            ratio = max(min(tiles[mine + high], tiles[d * most + outer]) / tiles[mine + low], 1.0)
            if found == LEAF or ratio > largest:
                found, largest = level * WIDTH + d, ratio
        if found != LEAF and not in_turn:
            break
    return found


@part
def splits_apart(boxes: Int16Array, start: int, d: int, tiles: FloatArray, most: int) -> bool:
    """Whether a split of inner tiles leaves no inner tile in both halves.

    One at or above the outer tile counts as that: the lower half must stay below all outer tiles.
    """
    first = start + 2 * WIDTH + d
    middle = (boxes[first] + boxes[first + WIDTH]) // 2
    return bool(tiles[(WIDTH + d) * most + middle] < tiles[d * most + boxes[start + d]])


@part
def cut(boxes: Int16Array, start: int, split: int, half: int, tiles: FloatArray, most: int) -> None:
    """Keep the lower (0) or upper (1) half of a range.

    Inner tiles at or above the largest outer one are the same; the first of them stands for all.
    """
    level, d = split // WIDTH, split % WIDTH
    first = start + 2 * WIDTH * level + d
    middle = (boxes[first] + boxes[first + WIDTH]) // 2
    if half == 0:
        boxes[first + WIDTH] = middle
    else:
        boxes[first] = middle + 1
    if level == 0:
        low, high, inner = start + 2 * WIDTH + d, start + 3 * WIDTH + d, (WIDTH + d) * most
        largest = tiles[d * most + boxes[start + WIDTH + d]]
        while boxes[high] > boxes[low] and tiles[inner + boxes[high] - 1] >= largest:
            boxes[high] -= 1


@entry
def chain(
    bands: IntArray, first: IntArray, following: IntArray, places: IntArray, count: int
) -> None:
    """Take `count` free places and put each in front of its band; see `Front`."""
    for i in range(count):
        place = first[BANDS]
        first[BANDS] = following[place]
        following[place] = first[bands[i]]
        first[bands[i]] = place
        places[i] = place


@entry
def unchain(
    least: FloatArray, first: IntArray, following: IntArray, places: IntArray, count: int
) -> None:
    """Free `count` places of the lowest bands, in which that many are."""
    band = 0
    for i in range(count):
        while first[band] == NONE:
            band += 1
        place = first[band]
        first[band] = following[place]
        following[place] = first[BANDS]
        first[BANDS] = place
        if first[band] == NONE:
            least[band] = math.inf
        places[i] = place
