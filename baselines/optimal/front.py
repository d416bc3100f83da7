"""The sets still to be looked at, least bound first."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.optimal.box_layout import BANDS, NONE
from baselines.optimal.structure_space import Boxes
from layers import DIMS
from marl_common import FloatArray, IntArray

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
        return Sets(*map(np.concatenate, zip(*parts, strict=True)))


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
        from baselines.optimal.kernel import chain

        room = len(self._next) - self.size
        if room < len(sets):
            self._grow(max(len(sets) - room, len(self._next) // 2, FIRST_PLACES))
        # what the last band holds is beyond all others
        bands = np.clip((sets.bounds - self._low) * self._scale, 0, BANDS - 1).astype(np.int64)
        np.minimum.at(self._least, bands, sets.bounds)
        places = np.empty(len(sets), dtype=np.int64)
        chain(bands, self._first, self._next, places, len(sets))
        self._pool.which[places], self._pool.boxes[places] = sets.which, sets.boxes
        self._pool.bounds[places], self._pool.ids[places] = sets.bounds, sets.ids
        self.size += len(sets)

    def pop(self, wanted: int) -> Sets:
        """Take some of the sets with the least bounds."""
        from baselines.optimal.kernel import unchain

        places = np.empty(min(wanted, self.size), dtype=np.int64)
        unchain(self._least, self._first, self._next, places, len(places))
        self.size -= len(places)
        return self._pool.take(places)

    def _grow(self, more: int) -> None:
        old = len(self._next)
        self._pool = Sets.joined([self._pool, Sets.empty(more)])
        chain = np.arange(old + 1, old + more + 1)
        chain[-1] = self._first[BANDS]
        self._next = np.concatenate([self._next, chain])
        self._first[BANDS] = old
