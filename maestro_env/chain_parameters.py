"""The parameters of a space on a chip of any depth, and where each stands in a mapping."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import NamedTuple

from cost_models import Axis, Chain, ChainLevel, Slot, has_room
from layers import DIMS, TENSORS, Layer
from maestro_env.loop_orders import orders_of
from maestro_env.parameters import MapSpaceError, Parameter, TileRule, tile_choices

MOST_ENTRIES = 12
"""Entries of a mapping."""
MOST_DIMS, FULL_DIMS = 4, 3
"""Dimensions side by side on an axis at most, and in a full space."""
MOST_UNITS = 1 << 20
"""Units of an axis that a space offers one by one."""
NONE = "none"
"""No further dimension on an axis; a tensor that a memory does not keep."""
TILED = "KCYXNG"
FILTERS = "RS"


@dataclass
class EntryPlan:
    """An entry of the mappings, and the columns of an action that say something of it.

    Args:
        level: The chip's level.
        part: Which entry of the same memory it is, from 0.
        last: Whether it is the last one of it, whose fan-out is said.
        number: Its place among the entries of memories, from 0; -1 where it holds nothing.
        tiled: Dimensions with a tile of their own.
        order: Column of the loop order.
        tiles: Column of each tile, by dimension.
    """

    level: ChainLevel
    part: int
    last: bool
    number: int
    tiled: str = ""
    order: int = -1
    tiles: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What parameters call it: the level, and from the second entry on its number."""
        return self.level.name + (f".{self.part + 1}" if self.part else "")


@dataclass
class SpreadPlan:
    """A spread of the mappings, and its columns.

    Args:
        slot: Where it stands.
        axis: The axis.
        dim: Column of its dimension.
        units: Column of its units.
        rank: Its place on the axis, from 0; it takes units that the spreads before it leave.
        rivals: Earlier spreads of the same fan-out on axes that share reads or sums otherwise: they
            may not have the same dimension.
    """

    slot: Slot
    axis: Axis
    dim: int
    units: int
    rank: int = 0
    rivals: tuple[int, ...] = ()


class Freedom(NamedTuple):
    """What mappings of a space may do besides.

    Args:
        taps: Tile filters everywhere.
        uneven: Have a memory stand as an entry for each tensor that it holds.
        bypass: Let any tensor bypass a memory.
        axis_dims: Dimensions side by side on an axis at most.
    """

    taps: bool = False
    uneven: bool = False
    bypass: bool = False
    axis_dims: int = 1


@dataclass
class KeepPlan:
    """A tensor that a memory may keep, in one of its entries, and its column.

    Args:
        tensor: The tensor's number.
        entries: Entries of the memory.
        column: The column.
    """

    tensor: int
    entries: tuple[int, ...]
    column: int


class SpacePlan:
    """All parameters of a space, and where they stand.

    Args:
        layer: The layer.
        chip: The chip.
        rule: Which tiles there are.
        may: What else mappings may do.
    """

    def __init__(self, layer: Layer, chip: Chain, rule: TileRule, may: Freedom) -> None:
        self.layer, self.chip, self.rule, self.may = layer, chip, rule, may
        self.parameters: list[Parameter] = []
        self.entries = list(_entries(chip, may.uneven))
        self.spreads: list[SpreadPlan] = []
        self.keeps: list[KeepPlan] = []
        self.extents = dict(zip(DIMS, layer.extents, strict=True))
        self._tile_entries()
        for _, group in groupby(enumerate(self.entries), key=lambda pair: pair[1].level.name):
            self._add_level(dict(group))

    def _tile_entries(self) -> None:
        """Choose the dimensions with tiles: filters too, where a memory has no room for them."""
        taps = self.may.taps
        for entry in self.entries:
            if entry.number >= 0:
                taps = taps or not self._fits(entry.level, self._least(entry), doubled=True)
                dims = TILED + (FILTERS if taps else "")
                entry.tiled = "".join(d for d in DIMS if d in dims and self.extents[d] > 1)

    def _least(self, entry: EntryPlan) -> dict[str, int]:
        """The smallest tile of an entry: 1, and of a filter that is not tiled what units get."""
        least = {d: self.extents[d] if d in FILTERS else 1 for d in DIMS}
        for outside in self.entries[: self.entries.index(entry)]:
            for axis in outside.level.fanout.axes if outside.last else ():
                for d in FILTERS:
                    if d in axis.dims:
                        least[d] = -(-least[d] // axis.units)
        return least | dict.fromkeys(entry.tiled, 1)

    def _fits(self, level: ChainLevel, tiles: dict[str, int], doubled: bool) -> bool:
        return has_room(
            self.layer, self.chip, level.name, tuple(tiles[d] for d in DIMS), doubled=doubled
        )

    def _is_too_large(self, level: ChainLevel, least: dict[str, int], d: str, tile: int) -> bool:
        return not self._fits(level, least | {d: tile}, doubled=False)

    def _add(self, parameter: Parameter) -> int:
        self.parameters.append(parameter)
        return len(self.parameters) - 1

    def _add_level(self, entries: dict[int, EntryPlan]) -> None:
        for entry in entries.values():
            if entry.number >= 0:
                self._add_loops(entry)
        places, last = tuple(entries), list(entries.values())[-1]
        if self.may.bypass or len(entries) > 1:
            self._add_keeps(places, last)
        number = last.number
        if number < 0:  # that of the memory outside; 0 where there is none
            number = max([entry.number for entry in self.entries[: places[0]]], default=0)
        self._add_spreads(places[-1], last.level, number)

    def _add_loops(self, entry: EntryPlan) -> None:
        name, number = entry.name, entry.number
        entry.order = self._add(
            Parameter(f"{name}.order", orders_of(entry.tiled).names, number, "order")
        )
        least = self._least(entry)
        for d in entry.tiled:
            choices = tile_choices(self.extents[d], self.rule)
            if not self.may.bypass and entry.last and not entry.part:  # it holds all of its level
                large = partial(self._is_too_large, entry.level, least, d)
                choices = choices[: max(bisect(choices, False, key=large), 1)]
            tile = Parameter(f"{name}.tile_{d}", choices, number, "tile", d)
            entry.tiles[d] = self._add(tile)

    def _add_keeps(self, places: tuple[int, ...], entry: EntryPlan) -> None:
        level = entry.level
        for tensor, held in enumerate(level.holds):
            if held:
                choices = tuple(str(i + 1) for i in range(len(places))) if len(places) > 1 else ()
                choices = ((NONE,) if self.may.bypass else ()) + (choices or ("kept",))
                name = f"{level.name}.keeps_{TENSORS[tensor]}"
                column = self._add(Parameter(name, choices, entry.number, "keeps"))
                self.keeps.append(KeepPlan(tensor, places, column))

    def _add_spreads(self, place: int, level: ChainLevel, number: int) -> None:
        if level.fanout.any:
            return
        first = len(self.spreads)
        for a, axis in enumerate(level.fanout.axes):
            dims = tuple(d for d in axis.dims if self.extents[d] > 1)
            name = f"{level.name}.axis{a}"
            if dims and axis.units > MOST_UNITS:
                raise MapSpaceError(
                    f"{name}: {axis.units} units, expected at most {MOST_UNITS} to choose from"
                )
            units = tuple(range(1, axis.units + 1)) if dims else (1,)
            dim = Parameter(f"{name}.dim", dims or (axis.dims[0],), number, "parallel")
            columns = self._add(dim), self._add(Parameter(f"{name}.units", units, number, "units"))
            self._spread(first, SpreadPlan(Slot(place, a), axis, *columns))
            most = min(max(len(dims), 1 + self.may.bypass), self.may.axis_dims) if dims else 1
            for rank in range(1, most):
                dim = Parameter(f"{name}.dim{rank + 1}", (NONE, *dims), number, "parallel2")
                more = Parameter(f"{name}.units{rank + 1}", units, number, "units")
                columns = self._add(dim), self._add(more)
                self._spread(first, SpreadPlan(Slot(place, a), axis, *columns, rank))

    def _spread(self, first: int, spread: SpreadPlan) -> None:
        terms = spread.axis.multicast, spread.axis.reduce
        spread.rivals = tuple(
            i
            for i, other in enumerate(self.spreads)
            if i >= first and (other.axis.multicast, other.axis.reduce) != terms
        )
        self.spreads.append(spread)


def _entries(chip: Chain, uneven: bool) -> Iterator[EntryPlan]:
    """The entries of mappings; uneven ones have one for each tensor that a memory holds."""
    spare = MOST_ENTRIES - len(chip.inner)
    number = 0
    for level in chip.inner:
        parts = 1
        if uneven and level.is_memory:
            parts = min(sum(level.holds), 1 + spare)
            spare -= parts - 1
        for part in range(parts):
            yield EntryPlan(level, part, part == parts - 1, number if level.is_memory else -1)
            number += level.is_memory
