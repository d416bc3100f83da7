"""DeFiNES' rule of levels on our counts: chosen tile by tile, with halos in a level of their own.

A part's input lives in the lowest level that holds it, and its output in the lowest that holds
both, or it alone where the input is elsewhere. Halos along columns, and along rows, are kept in the
lowest level that holds all of them beside what is alive in the last tile of a row, and of all. What
is not where it is wanted is copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from benchmarks.fsrcnn.parts import (
    BYTES,
    FILTERS,
    LEVELS,
    STREAM,
    Homes,
    PartCost,
    carry,
    filter_bytes,
    fsrcnn,
    part_cost,
)
from mapper.fusing.axis_plan import AxisLayer, axis_tiles

RAISED = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2))
"""How many levels further out output and input live, where there is no room for tiles."""


class Along(NamedTuple):
    """A kind of tile along one axis, layer by layer.

    Args:
        outputs: Rows that a layer computes.
        reads: Input rows that it reads.
        again: Those of them that a tile before computed.
        first: Whether no tile is before it.
        last: Whether none is behind it.
    """

    outputs: tuple[int, ...]
    reads: tuple[int, ...]
    again: tuple[int, ...]
    first: bool
    last: bool


def kinds(axis: tuple[AxisLayer, ...], tile: int, keep: bool) -> Counter[Along]:
    """The kinds of tiles along an axis, and how many there are of each."""
    tiles = list(axis_tiles(axis, tile, keep))
    found: Counter[Along] = Counter()
    for number, layers in enumerate(tiles):
        pieces = [layers[place] for place in range(len(axis))]
        outputs = tuple(one.piece.outputs for one in pieces)
        reads = tuple(one.end - one.first for one in pieces)
        again = (0, *(r - o for r, o in zip(reads[1:], outputs[:-1], strict=True)))
        found[Along(outputs, reads, again, number == 0, number == len(tiles) - 1)] += 1
    return found


class Tile:
    """A fused tile of one kind.

    Args:
        rows: Its kind along rows.
        columns: Its kind along columns.
        keep: Whether halos are kept along columns, and along rows besides.
    """

    def __init__(self, rows: Along, columns: Along, keep: tuple[bool, bool]) -> None:
        self.rows, self.columns, self.keep, self.group = rows, columns, keep, fsrcnn()
        self.layers = self.group.layers
        self.inputs = [
            layer.C * y * x
            for layer, y, x in zip(self.layers, rows.reads, columns.reads, strict=True)
        ]
        self.outputs = [
            layer.K * y * x
            for layer, y, x in zip(self.layers, rows.outputs, columns.outputs, strict=True)
        ]
        self.homes = self._homes()

    def _homes(self) -> list[Homes]:
        """Where each layer's input and output live."""
        found = [Homes("DRAM", _lowest(self.outputs[0]))]
        for size, output in zip(self.inputs[1:], self.outputs[1:], strict=True):
            read = _lowest(size)
            written = next(
                name for name in LEVELS
                if name == "DRAM" or output + size * (name == read) <= BYTES[name]
            )  # fmt: skip
            if len(found) == len(self.layers) - 1:
                written = "DRAM"
            tried = (_raised(Homes(read, written), *by) for by in RAISED)
            found.append(next(
                one for one in tried
                if all(room >= STREAM or not passes for room, passes
                       in zip(self._rooms(one, size, output), one.passes, strict=True))
            ))  # fmt: skip
        return found

    def _rooms(self, homes: Homes, size: int, output: int) -> tuple[int, int]:
        """Bytes of Local and of Global that a part's input and output leave."""
        local, shared = (
            BYTES[name] - size * (homes.read == name) - output * (homes.written == name)
            for name in LEVELS[:2]
        )
        return local, shared

    def halos(self) -> tuple[list[int], list[int], int]:
        """Bytes of each input that are kept along columns and along rows, and of both at once."""
        count = range(1, len(self.layers))
        reach = [(self.group.rows[n].reach - 1, self.group.columns[n].reach - 1) for n in count]
        across = [self.layers[n].C * x * self.rows.reads[n]
                  for n, (_, x) in zip(count, reach, strict=True)]  # fmt: skip
        along = [self.layers[n].C * y * self.group.columns[n].inputs
                 for n, (y, _) in zip(count, reach, strict=True)]  # fmt: skip
        both = sum(self.layers[n].C * y * x for n, (y, x) in zip(count, reach, strict=True))
        return across, along, both

    def caches(self) -> tuple[str, str]:
        """The levels in which halos are kept along columns, and along rows."""
        across, along, both = self.halos()
        alive = [i + o for i, o in zip(self.inputs[1:], self.outputs[1:], strict=True)]
        peak = max(alive) + sum(across)
        if self.columns.first:  # halos come to be layer after layer
            peak = max(one + sum(across[:n]) for n, one in enumerate(alive))
        level = _lowest(peak)
        lower = (name for name in LEVELS[:2]
                 if peak + sum(along) - both * (name == level) <= BYTES[name])  # fmt: skip
        return level, next(lower, "DRAM")

    def part(self, place: int) -> PartCost:
        """What a layer costs."""
        layer, homes = self.layers[place], self.homes[place]
        rows, columns = self.rows.outputs[place], self.columns.outputs[place]
        part = replace(layer, Y=rows + layer.R - 1, X=columns + layer.S - 1).renamed("")
        left = self._rooms(homes, self.inputs[place], self.outputs[place])
        return part_cost(part, homes, homes.rooms(left))

    def copies(self, across: str, along: str) -> Iterator[tuple[str, str, int]]:
        """What is copied: from where, where to, and how much [B]."""
        yield "DRAM", self.homes[0].written, self.outputs[0]
        for place in range(1, len(self.layers)):
            layer, home = self.layers[place], self.homes[place].read
            made = self.homes[place - 1].written
            if place > 1 or LEVELS.index(made) > LEVELS.index(home):
                yield made, home, self.outputs[place - 1]
            y, x = self.rows.again[place], self.columns.again[place]
            if self.keep[0]:
                yield across, home, layer.C * x * self.rows.reads[place]
            if self.keep[1]:
                yield along, home, layer.C * y * (self.columns.reads[place] - x)
            if place > 1:  # the group's input is in DRAM as well
                yield from self._written(place, made, across, along)

    def _written(
        self, place: int, made: str, across: str, along: str
    ) -> Iterator[tuple[str, str, int]]:
        """What of a layer's input is written to where halos are kept."""
        y, x = self.rows.outputs[place - 1], self.columns.outputs[place - 1]
        reach_y, reach_x = (axis[place].reach - 1 for axis in (self.group.rows, self.group.columns))
        high = 0
        if self.keep[1] and not self.rows.last and along != made:
            high = min(reach_y, y)
            yield made, along, self.layers[place].C * high * x
        if self.keep[0] and not self.columns.last:
            yield made, across, self.layers[place].C * min(reach_x, x) * (y - high)


def _raised(homes: Homes, written: int, read: int) -> Homes:
    """Levels further out, DRAM at most."""
    at = (min(LEVELS.index(one) + by, 2) for one, by in zip(homes, (read, written), strict=True))
    return Homes(*(LEVELS[one] for one in at))


def _lowest(size: int) -> str:
    """The lowest level that holds so many bytes."""
    return next((name for name in LEVELS[:2] if size <= BYTES[name]), "DRAM")


def cost_by_tiles(size: tuple[int, int], keep: tuple[bool, bool]) -> PartCost:
    """All tiles together.

    Args:
        size: Rows and columns of the last layer's output in a tile.
        keep: Whether halos are kept, along rows and along columns.
    """
    group = fsrcnn()
    rows, columns = (
        kinds(axis, one, kept)
        for axis, one, kept in zip((group.rows, group.columns), size, keep, strict=True)
    )
    modes = keep[1], all(keep)
    tiles = {(y, x): Tile(y, x, modes) for y, x in product(rows, columns)}
    caches = {at: tile.caches() for at, tile in tiles.items()}
    # what a tile finds takes the place of what the one before found: the last one's holds
    last = next(one for one in rows if one.last), next(one for one in columns if one.last)
    along = caches[last][1]
    found: Counter[str] = Counter()
    cycles = 0.0
    for (y, x), tile in tiles.items():
        times = rows[y] * columns[x]
        for part in (tile.part(place) for place in range(1, len(group.layers))):
            found.update({name: times * one for name, one in part.energy.items()})
            cycles += times * part.cycles
        for start, end, amount in tile.copies(caches[y, last[1]][0], along):
            cycles += carry(found, between(start, end), times * amount)
    return PartCost(found, cycles + carry(found, FILTERS, filter_bytes()))


def between(start: str, end: str) -> tuple[str, ...]:
    """The levels from one to another."""
    low, high = sorted((LEVELS.index(start), LEVELS.index(end)))
    path = LEVELS[low : high + 1]
    return path if start == path[0] else path[::-1]
