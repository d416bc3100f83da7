"""A batch of mappings of a chain through the kernel: records in, counts out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.chain.batch import FLAGS, ChainBatch
from cost_models.chain.chip import Axis, Chain
from cost_models.chain.moves import At
from cost_models.exact.nest import OUTPUT
from cost_models.exact.nest_counts import WORDS, WORK
from cost_models.exact.records import TENSORS, Counts
from cost_models.mapping import NO_DIM
from marl_common import IntArray

Fields = list[tuple[str, Any, Any]]
CHUNK = 64
"""Nests at a time: their records and counts stay in a core's cache."""


@cache
def place_of(*names: Any) -> int:
    """Which word of the kernel's record of counts has a count, by the simulator's name for it."""
    return WORDS["/".join(map(str, names))]


class Columns:
    """The counts of many nests, by the simulator's names.

    Args:
        places: The words of the kernel's record that were kept.
        values: ``(n, B)``, a row for each of them.
    """

    def __init__(self, places: Sequence[int], values: IntArray) -> None:
        self._rows = {place: row for row, place in enumerate(places)}
        self.values = values

    def __call__(self, *names: Any) -> IntArray:
        """``(B,)`` of a count."""
        row: IntArray = self.values[self._rows[place_of(*names)]]
        return row

    def take(self, rows: IntArray | slice) -> Columns:
        """The counts of some nests."""
        return Columns(list(self._rows), self.values[:, rows])

    def row(self, index: int) -> At:
        """The counts of one nest as plain integers."""
        numbers = self.values[:, index].tolist()
        return lambda *names: numbers[self._rows[place_of(*names)]]


class Filler:
    """Writes mappings of a chip into records that hold all else of their nests.

    Args:
        chip: The chip.
        extents: Extents of the layer.
        batch: Any batch with the entries and spreads of those to come.
        record: ``(1,)`` record of any mapping's nest.
    """

    def __init__(
        self, chip: Chain, extents: tuple[int, ...], batch: ChainBatch, record: NDArray[Any]
    ) -> None:
        self.record = record
        self._extents = extents
        self._depth, self._slots = len(batch.levels), batch.slots
        axes = [
            chip.levels[chip.position(batch.levels[slot.entry])].fanout.axes[slot.axis]
            for slot in batch.slots
        ]
        alone = {place: np.logical_not(_shares(axis)) for place, axis in enumerate(axes)}
        self._alone = {place: flags for place, flags in alone.items() if flags.any()}
        self._fanned = sorted({slot.entry for slot in self._slots})

    def nests(self, batch: ChainBatch) -> NDArray[Any]:
        """``(B,)`` records of mappings."""
        found = np.repeat(self.record, len(batch))
        self.fill(found["levels"], self.fields(batch), slice(None))
        return found

    def fields(self, batch: ChainBatch) -> Fields:
        """What differs between the records of mappings: field, levels and values."""
        inside = slice(1, self._depth + 1)
        found: Fields = [
            ("order", inside, batch.orders),
            ("tile", inside, batch.whole_tiles(self._extents)),
        ]
        if batch.keeps is not None:
            found.append(("keeps", inside, batch.keeps @ (np.int64(1) << np.arange(TENSORS))))
        found += [("units", e + 2, batch.units_along(e)) for e in self._fanned]
        alone: dict[int, Any] = {}
        for place, flags in self._alone.items():
            dims = batch.dims[:, place]
            spread = (dims != NO_DIM) & (batch.units[:, place] > 1)
            bits = np.where(spread, FLAGS[dims], 0)[:, None] * flags
            e = self._slots[place].entry
            alone[e] = alone[e] | bits if e in alone else bits
        return found + [("alone", e + 2, bits) for e, bits in alone.items()]

    def fill(self, levels: Any, fields: Fields, rows: slice) -> None:
        """Write some rows of :meth:`fields` into ``(B, LEVELS)`` records of levels."""
        for name, place, values in fields:
            levels[name][:, place] = values[rows]


def _shares(axis: Axis) -> tuple[bool, ...]:
    """Whether units along an axis share reads of input and filter, and add sums."""
    return tuple(axis.reduce if t == OUTPUT else axis.multicast for t in range(TENSORS))


def count_rows(filler: Filler, batch: ChainBatch, places: IntArray) -> tuple[IntArray, IntArray]:
    """Count mappings.

    Args:
        filler: Writes their records.
        batch: `B` mappings.
        places: ``(n,)`` words of the kernel's record of counts to keep.

    Returns:
        ``(n, B)`` counts, and ``(B,)`` status: COUNTED, or why there are no counts.
    """
    from cost_models.exact.kernel import count_nests

    size = len(batch)
    nests = np.repeat(filler.record, min(size, CHUNK))
    counts = np.zeros(len(nests), Counts)
    words = counts.view(np.int64).reshape(len(nests), -1)
    status = np.zeros(size, np.int64)
    found = np.empty((len(places), size), np.int64)
    work, fields = WORK.records, filler.fields(batch)
    for low in range(0, size, CHUNK):
        some = slice(low, min(low + CHUNK, size))
        part = min(CHUNK, size - low)
        filler.fill(nests["levels"][:part], fields, some)
        count_nests(work, nests, counts, status[some], part)
        found[:, some] = words[:part, places].T
    return found, status
