"""The sets still to be looked at, least bound first."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.optimal.structure_space import Boxes
from common import FloatArray, IntArray

BANDS = 256


class Sets(NamedTuple):
    """Sets of structures.

    Args:
        which: ``(B,)`` their allocations.
        boxes: ``(B, 4, D)`` their tiles.
        bounds: ``(B,)`` lower bounds.
        ids: ``(B,)`` their numbers in the tree of all sets.
    """

    which: IntArray
    boxes: Boxes
    bounds: FloatArray
    ids: IntArray

    def take(self, rows: NDArray[np.bool_] | IntArray | slice) -> Sets:
        """Some of the sets."""
        return Sets(self.which[rows], self.boxes[rows], self.bounds[rows], self.ids[rows])

    def __len__(self) -> int:
        return len(self.which)

    @staticmethod
    def joined(parts: list[Sets]) -> Sets:
        """All sets of some parts."""
        return Sets(
            np.concatenate([part.which for part in parts]),
            np.concatenate([part.boxes for part in parts]),
            np.concatenate([part.bounds for part in parts]),
            np.concatenate([part.ids for part in parts]),
        )


class Front:
    """A queue in bands of the bound, so that thousands of sets come out at a time.

    Args:
        low: Least bound that will come in.
        high: A bound above which sets are alike.
    """

    def __init__(self, low: float, high: float) -> None:
        if not 0 < low < high < np.inf:
            low, high = 1.0, 2.0
        self._edges = np.linspace(low, high, BANDS)
        self._bands: list[list[Sets]] = [[] for _ in range(BANDS)]
        self._least = [np.inf] * BANDS
        self.size = 0

    @property
    def least(self) -> float:
        """Least bound of all sets; inf where there is none."""
        return min(self._least)

    def push(self, sets: Sets) -> None:
        """Add sets."""
        if len(sets) == 0:
            return
        bands = np.clip(np.searchsorted(self._edges, sets.bounds, side="right") - 1, 0, BANDS - 1)
        order = np.argsort(bands, kind="stable")
        sets, bands = sets.take(order), bands[order]
        cuts = [0, *(np.flatnonzero(np.diff(bands)) + 1).tolist(), len(bands)]
        for start, stop in pairwise(cuts):
            part = sets.take(slice(start, stop))
            band = int(bands[start])
            self._bands[band].append(part)
            self._least[band] = min(self._least[band], float(part.bounds.min()))
        self.size += len(sets)

    def pop(self, wanted: int) -> Sets:
        """Take some of the sets with the least bounds, at least one."""
        parts: list[Sets] = []
        count = 0
        for band in range(BANDS):
            if count >= wanted:
                break
            parts += self._bands[band]
            count += sum(map(len, self._bands[band]))
            self._bands[band], self._least[band] = [], np.inf
        sets = Sets.joined(parts)
        self.size -= len(sets)
        if len(sets) > 2 * wanted:
            order = np.argpartition(sets.bounds, wanted)
            self.push(sets.take(order[wanted:]))
            sets = sets.take(order[:wanted])
        return sets
