"""Where the next transition goes and which rows hold one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marl_common import at_least
from mpe_marl.errors import MpeError

Rows = NDArray[np.int64]


class Ring:
    """Write cursor over a ring of rows.

    Laws count in logical order, 0 the oldest transition and ``size - 1`` the newest, so that a run
    of logical neighbours never crosses the write cursor; :meth:`physical` gives the rows.

    Args:
        capacity: Transitions kept; rounded down to whole steps of all streams.
        streams: Rows written at once.
        spare: Further rows that hold no transition (the `state` layout's newest states).

    Raises:
        MpeError: The capacity is smaller than one step of all streams.
    """

    def __init__(self, capacity: int, streams: int = 1, spare: int = 0) -> None:
        at_least("streams", streams, 1, MpeError)
        if capacity < streams:
            raise MpeError(
                f"capacity={capacity} is less than one step of {streams} worlds; raise it."
            )
        self.capacity = capacity // streams * streams
        self.streams = streams
        self.rows = self.capacity + spare
        self.cursor = 0
        self.size = 0

    @property
    def start(self) -> int:
        """Physical row of the oldest transition."""
        return (self.cursor - self.size) % self.rows

    @property
    def used(self) -> int:
        """Rows from the first that have ever been written, spare ones ahead included."""
        if self.size == self.capacity:
            return self.rows
        return self.cursor + self.rows - self.capacity

    def advance(self) -> int:
        """Take the next ``streams`` rows; returns the first of them."""
        first = self.cursor
        self.cursor = (first + self.streams) % self.rows
        self.size = min(self.size + self.streams, self.capacity)
        return first

    def physical(self, logical: Rows) -> Rows:
        """Rows of logical positions ``0..size-1``."""
        start = self.start
        if start == 0:
            return logical
        rows = logical + start
        rows[rows >= self.rows] -= self.rows
        return rows

    def vacant(self) -> Rows:
        """Rows in use that hold no transition now: the spare ones ahead of the cursor."""
        spare = self.rows - self.capacity
        return (self.cursor + np.arange(spare, dtype=np.int64)) % self.rows
