"""Many mappings of one layer on a chain as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.chain.chip import Chain
from cost_models.chain.entries import ChainMapping, Entry, Spread
from cost_models.infeasible import MappingError
from cost_models.mapping import MOST, NO_DIM
from layers import DIMS, TENSORS
from marl_common import BoolArray, Int8Array, Int32Array

WIDTH = len(DIMS)
NO_ENTRY = -1
NUMBERS = np.arange(WIDTH)
FLAGS = np.int64(1) << np.arange(WIDTH)


class Slot(NamedTuple):
    """Where a spread of a mapping stands.

    Args:
        entry: Its entry.
        axis: The axis of that entry's fan-out.
    """

    entry: int
    axis: int


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """`B` mappings with the same entries, as arrays; ``batch[i]`` is a :class:`ChainMapping`.

    Args:
        levels: The level of each of the `E` entries.
        slots: Where each of the `A` spreads stands.
        tiles: ``(B, E, 8)`` int32 in the order ``KCYXRSNG``; 0 is the tile around it, shared by the
            units that are spread along the dimension there.
        orders: ``(B, E, 8)`` int8: indices into ``KCYXRSNG``, outermost loop first.
        dims: ``(B, A)`` int8: the dimension of each spread, -1 for none.
        units: ``(B, A)`` int32: its units, 1 where there is none.
        keeps: ``(B, E, 3)`` bool: the tensors that each entry keeps; None for all that the chip's
            level holds.
        legal_on: The chip whose mappings they are known to be; None where nobody has looked.
    """

    levels: tuple[str, ...]
    slots: tuple[Slot, ...]
    tiles: Int32Array
    orders: Int8Array
    dims: Int8Array
    units: Int32Array
    keeps: BoolArray | None = None
    legal_on: Chain | None = None

    @classmethod
    def from_mappings(cls, mappings: Sequence[ChainMapping], chip: Chain) -> ChainBatch:
        """Stack mappings of a chip.

        Raises:
            MappingError: One is no mapping of the chip, or another has other entries.
        """
        resolved = [[entry for entry, _, _ in m.resolved(chip)] for m in mappings]
        levels = tuple(entry.level for entry in resolved[0])
        slots: list[Slot] = []
        for entries in resolved:
            if tuple(entry.level for entry in entries) != levels:
                raise MappingError(
                    f"mappings: entries of {', '.join(e.level for e in entries)} beside those of "
                    f"{', '.join(levels)}; expected the same entries in all"
                )
            own = [
                Slot(e, spread.axis) for e, entry in enumerate(entries) for spread in entry.parallel
            ]
            slots += [slot for slot in set(own) for _ in range(own.count(slot) - slots.count(slot))]
        slots.sort()
        shape = (len(mappings), len(levels))
        tiles = np.zeros((*shape, WIDTH), np.int32)
        orders = np.zeros((*shape, WIDTH), np.int8)
        keeps = np.zeros((*shape, len(TENSORS)), np.bool_)
        dims = np.full((len(mappings), len(slots)), NO_DIM, np.int8)
        units = np.ones((len(mappings), len(slots)), np.int32)
        for row, entries in enumerate(resolved):
            free = list(range(len(slots)))
            for e, entry in enumerate(entries):
                tiles[row, e] = [min(entry.tiles.get(d, 0), MOST) for d in DIMS]
                orders[row, e] = [DIMS.index(d) for d in entry.order]
                keeps[row, e] = [tensor in (entry.keeps or ()) for tensor in TENSORS]
                for spread in entry.parallel:
                    place = next(i for i in free if slots[i] == Slot(e, spread.axis))
                    free.remove(place)
                    dims[row, place] = DIMS.index(spread.dim)
                    units[row, place] = spread.units or 1
        held = [chip.levels[chip.position(name)].holds for name in levels]
        same = (keeps == np.array(held)).all()
        return cls(levels, tuple(slots), tiles, orders, dims, units, None if same else keeps, chip)

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: int) -> ChainMapping:
        if not -len(self) <= index < len(self):
            raise IndexError(f"mapping {index} of a batch of {len(self)}")
        tiles, orders = self.tiles[index].tolist(), self.orders[index].tolist()
        spread = list(
            zip(self.slots, self.dims[index].tolist(), self.units[index].tolist(), strict=True)
        )
        keeps = None if self.keeps is None else self.keeps[index].tolist()
        return ChainMapping(
            tuple(
                Entry(
                    name,
                    {d: tile for d, tile in zip(DIMS, tiles[e], strict=True) if tile},
                    "".join(DIMS[d] for d in orders[e]),
                    tuple(
                        Spread(DIMS[d], n, slot.axis)
                        for slot, d, n in spread
                        if slot.entry == e and d != NO_DIM and n > 1
                    ),
                    None
                    if keeps is None
                    else frozenset(t for t, kept in zip(TENSORS, keeps[e], strict=True) if kept),
                )
                for e, name in enumerate(self.levels)
            )
        )

    def __iter__(self) -> Iterator[ChainMapping]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> ChainBatch:
        """The mappings of the given rows, as a new batch."""
        keeps = None if self.keeps is None else self.keeps[rows]
        arrays = (self.tiles[rows], self.orders[rows], self.dims[rows], self.units[rows])
        return ChainBatch(self.levels, self.slots, *arrays, keeps, self.legal_on)

    def units_along(self, entry: int) -> Int32Array:
        """``(B, 8)`` units of the next level along each dimension, below one entry; read-only."""
        return self._units[entry] if entry in self._units else self._units[NO_ENTRY]

    @cached_property
    def _units(self) -> dict[int, Int32Array]:
        """Units along each dimension by entry; those of one without a fan-out are all 1."""
        found = {NO_ENTRY: np.ones((len(self), WIDTH), np.int32)}
        for place, slot in enumerate(self.slots):
            mine = self.dims[:, place, None] == NUMBERS
            units = np.where(mine, self.units[:, place, None], np.int32(1))
            found[slot.entry] = found[slot.entry] * units if slot.entry in found else units
        return found

    def whole_tiles(self, extents: Sequence[int]) -> Int32Array:
        """``(B, E, 8)`` tiles clipped to those around them, with those that are shared."""
        known = self.__dict__.get("_whole")
        if known is None or known[0] != tuple(extents):
            known = self.__dict__["_whole"] = tuple(extents), self._clipped(extents)
        found: Int32Array = known[1]
        return found

    def _clipped(self, extents: Sequence[int]) -> Int32Array:
        found = np.empty_like(self.tiles)
        around: Int32Array = np.array(extents, np.int32)[None]
        for e in range(len(self.levels)):
            own, shared = self.tiles[:, e], around
            if e - 1 in self._units:
                shared = -(-around // self._units[e - 1])
            np.minimum(np.where(own == 0, shared, own), around, out=found[:, e])
            around = found[:, e]
        return found


def check_batch(batch: ChainBatch, chip: Chain) -> None:
    """Find out whether all rows are mappings of a chip.

    Raises:
        MappingError: One is none; names it.
    """
    if batch.legal_on is chip or batch.legal_on == chip or len(batch) == 0:
        return
    orders = (FLAGS[np.clip(batch.orders, 0, WIDTH - 1)]).sum(axis=2)
    shape = (len(batch), len(batch.levels))
    wrong = (orders != FLAGS.sum()).any(axis=1) | (batch.orders < 0).any(axis=(1, 2))
    wrong |= (batch.tiles < 0).any(axis=(1, 2)) | (batch.units < 1).any(axis=1)
    wrong |= ((batch.dims < NO_DIM) | (batch.dims >= WIDTH)).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise MappingError(
            f"mapping {row}: orders {batch.orders[row].tolist()}, tiles "
            f"{batch.tiles[row].tolist()}, dims {batch.dims[row].tolist()}, units "
            f"{batch.units[row].tolist()}; expected a permutation of 0 to 7, tiles from 0 and "
            f"units from 1 for each of {shape[1]} entries"
        )
    for row, mapping in enumerate(batch):
        try:
            mapping.resolved(chip)
        except MappingError as error:
            raise MappingError(f"mapping {row}: {error}") from None
