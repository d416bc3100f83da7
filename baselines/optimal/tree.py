"""The tree of boxes that a proof walked: what was split where, ruled out or evaluated."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from marl_common import IntArray

Bytes = NDArray[np.uint8]


class Tree:
    """Records splits; numbers 0 to `roots` - 1 are the roots, children get the next two numbers.

    Args:
        roots: How many boxes hold the whole space.
    """

    EVALUATED: Final = 254
    RULED_OUT: Final = 255

    def __init__(self, roots: int) -> None:
        self.count = roots
        self._roots = roots
        self._parts: list[tuple[IntArray, Bytes, int]] = []
        self.nbytes = 0
        """Memory of the record."""

    def add(self, ids: IntArray, splits: NDArray[np.int8]) -> IntArray:
        """Record the splits of some boxes; returns the numbers of their children, side by side."""
        first = self.count
        self._append(ids, splits.astype(np.uint8), first)
        self.count += 2 * len(ids)
        return np.arange(first, self.count)

    def close(self, ids: IntArray) -> None:
        """Record boxes that were evaluated."""
        self._append(ids, np.full(len(ids), self.EVALUATED, dtype=np.uint8), -1)

    def _append(self, ids: IntArray, kinds: Bytes, first: int) -> None:
        self._parts.append((ids, kinds, first))
        self.nbytes += ids.nbytes + kinds.nbytes

    def splits(self) -> Bytes:
        """What became of every box, level by level.

        A byte is the split: the dimension, plus the number of dimensions for inner tiles; or
        `EVALUATED`; or `RULED_OUT` by its bound. The roots come first, in their order, then the
        halves of all split boxes of a level in order, two side by side.
        """
        kinds = np.full(self.count, self.RULED_OUT, dtype=np.uint8)
        first = np.full(self.count, -1, dtype=np.int64)
        for ids, splits, child in self._parts:
            kinds[ids] = splits
            if child >= 0:
                first[ids] = child + 2 * np.arange(len(ids))
        level = np.arange(self._roots)
        levels = []
        while len(level):
            levels.append(kinds[level])
            begun = first[level]
            level = (begun[begun >= 0][:, None] + np.arange(2)).ravel()
        return np.concatenate(levels)
