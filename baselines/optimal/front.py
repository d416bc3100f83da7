"""The sets still to be looked at, least bound first."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.optimal.structure_space import Boxes
from common import FloatArray, IntArray, compiled
from layers import DIMS

BANDS: Final = 256
NONE: Final = -1
FIRST_PLACES: Final = 1 << 14


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
    def empty(count: int) -> Sets:
        """Room for so many sets."""
        return Sets(
            np.empty(count, dtype=np.int64),
            np.empty((count, 4, len(DIMS)), dtype=np.int16),
            np.empty(count),
            np.empty(count, dtype=np.int64),
        )

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
    """A queue in bands of the bound; of a band the sets that came last go first.

    Places of a pool hold the sets; those of a band, and those that are free, are chained.

    Args:
        low: Least bound that will come in.
        high: A bound above which sets are alike.
    """

    def __init__(self, low: float, high: float) -> None:
        if not 0 < low < high < np.inf:
            low, high = 1.0, 2.0
        self._low, self._scale = low, BANDS / (high - low)
        self._first = np.full(BANDS + 1, NONE)  # of each band; the last: of the free places
        self._least = np.full(BANDS, np.inf)
        self._pool = Sets.empty(0)
        self._next = np.empty(0, dtype=np.int64)
        self.size = 0

    @property
    def least(self) -> float:
        """A bound that no set is below; inf where there is none."""
        return float(self._least.min())

    def push(self, sets: Sets) -> None:
        """Add sets."""
        room = len(self._next) - self.size
        if room < len(sets):
            self._grow(max(len(sets) - room, len(self._next) // 2, FIRST_PLACES))
        put(sets, self._low, self._scale, self._first, self._least, self._pool, self._next)
        self.size += len(sets)

    def pop(self, wanted: int) -> Sets:
        """Take some of the sets with the least bounds."""
        sets = Sets.empty(min(wanted, self.size))
        get(sets, self._first, self._least, self._pool, self._next)
        self.size -= len(sets)
        return sets

    def _grow(self, more: int) -> None:
        old = len(self._next)
        self._pool = Sets.joined([self._pool, Sets.empty(more)])
        chain = np.arange(old + 1, old + more + 1)
        chain[-1] = self._first[BANDS]
        self._next = np.concatenate([self._next, chain])
        self._first[BANDS] = old


@compiled(nogil=True)
def put(
    sets: Any, low: float, scale: float, first: Any, least: Any, pool: Any, following: Any
) -> None:
    """Put sets into free places and chain them to their bands.

    Args:
        sets: The sets.
        low: Where the bands begin.
        scale: Bands per unit of the bound.
        first: ``(BANDS + 1,)`` first place of each band, and of the free places.
        least: ``(BANDS,)`` least bound of each band.
        pool: The sets in all places.
        following: The place that comes after each.
    """
    which, boxes, bounds, ids = sets
    to_which, to_boxes, to_bounds, to_ids = pool
    for i in range(len(which)):
        # what the last band holds is beyond all others
        band = int(max(0.0, min((bounds[i] - low) * scale, BANDS - 1.0)))
        place = first[BANDS]
        first[BANDS] = following[place]
        following[place] = first[band]
        first[band] = place
        least[band] = min(least[band], bounds[i])
        to_which[place] = which[i]
        to_boxes[place] = boxes[i]
        to_bounds[place] = bounds[i]
        to_ids[place] = ids[i]


@compiled(nogil=True)
def get(sets: Any, first: Any, least: Any, pool: Any, following: Any) -> None:
    """Fill `sets` with those of the lowest bands; arguments as `put`."""
    which, boxes, bounds, ids = sets
    from_which, from_boxes, from_bounds, from_ids = pool
    band = 0
    for i in range(len(which)):
        while first[band] == NONE:
            band += 1
        place = first[band]
        first[band] = following[place]
        following[place] = first[BANDS]
        first[BANDS] = place
        if first[band] == NONE:
            least[band] = np.inf
        which[i] = from_which[place]
        boxes[i] = from_boxes[place]
        bounds[i] = from_bounds[place]
        ids[i] = from_ids[place]
