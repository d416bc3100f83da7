"""All that a space on a chain offers but loop orders: ways of spreading units, and tiles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from baselines.optimal.chain_entries import NO_PICKS, entry_names
from baselines.optimal.chain_fans import ONE, Vector, fans_of, units_below
from baselines.optimal.proof import ProveError
from cost_models import Chain, ChainFacts, ChainSpread, ChainTiles, WidestSpread, shared_out
from layers import DIMS
from maestro_env import ChainSpace
from marl_common import IntArray

MOST_CELLS = 1 << 22
"""Vectors of tiles of one memory at most."""


class ChainStructures:
    """The structures of a space, or those of its mappings whose entries keep the same.

    Args:
        space: The space; with filters in one tile.
        facts: What bounds know of the problem, and of entries.
        picks: Choices of an action for what entries keep, by column.

    Attributes:
        dims: Tiled dimensions.
        tiles: Their tiles.
        ways: ``(W, F)`` fans of each way of spreading all units.
    """

    def __init__(
        self, space: ChainSpace, facts: ChainFacts, picks: Mapping[int, int] = NO_PICKS
    ) -> None:
        self.space, self.facts, self.chip, self.picks = space, facts, space.accelerator, picks
        self.columns = {p.name: i for i, p in enumerate(space.parameters)}
        self.dims = [DIMS.index(d) for d in space.moving]
        names = entry_names([level.name for level in facts.memories[1:]])
        stand = Counter(level.name for level in facts.memories)
        self._tile = [[self.columns[f"{n}.tile_{DIMS[d]}"] for d in self.dims] for n in names]
        self._order = [self.columns[f"{name}.order"] for name in names]
        self.tiles = self._tiles()
        self._picked = [
            [np.searchsorted(self._choices(column), values).tolist()
             for column, values in zip(row, self.tiles.values, strict=True)]
            for row in self._tile
        ]  # fmt: skip
        """By memory, dimension and place of a tile, the choice that has it."""
        self._gaps: list[list[int]] = []
        for place, level in enumerate(self.chip.levels):
            if place == 0 or level.is_memory:
                self._gaps += [[] for _ in range(stand[level.name])]
            self._gaps[-1].append(place)
        self.fans = fans_of(space)
        self.ways = np.array(list(product(*(range(len(f)) for f in self.fans))), np.int64)
        self._orders: dict[Any, list[int]] = {}

    def _choices(self, column: int) -> list[int]:
        return [int(c) for c in self.space.parameters[column].choices]

    def _tiles(self) -> ChainTiles:
        values, offered = [], []
        for place, d in enumerate(self.dims):
            found = {self.facts.layer.extents[d]}
            found |= {c for row in self._tile for c in self._choices(row[place])}
            values.append(np.array(sorted(self._shared(found)), np.int64))
        offered.append(tuple(np.ones(len(v), np.bool_) for v in values))
        for row in self._tile:
            pairs = zip(row, values, strict=True)
            offered.append(tuple(np.isin(v, self._choices(column)) for column, v in pairs))
        return ChainTiles(tuple(values), tuple(offered), {}, {})

    def _shared(self, tiles: set[int]) -> set[int]:
        """Tiles, and those that units of levels which hold nothing make of them."""
        if all(level.is_memory for level in self.chip.inner):
            return tiles
        counts = {n for level in self.chip.levels for n in range(1, level.fanout.units + 1)}
        return tiles | {-(-tile // n) for tile in tiles for n in counts}

    def turns(self) -> Any:
        """``(W,)`` MAC steps of each way at least."""
        units = np.ones((len(self.ways), len(DIMS)), np.int64)
        for column, fans in enumerate(self.fans):
            units *= np.array([fan.units for fan in fans])[self.ways[:, column]]
        steps = -(-np.array(self.facts.layer.extents) // units)
        return np.ceil(steps.prod(axis=1, dtype=np.float64) / self.chip.lanes)

    def spread(self, way: IntArray) -> ChainSpread:
        """One way of spreading all units."""
        fans = [self.fans[level][i] for level, i in enumerate(way)]
        spatial = tuple(tuple(fans[level].units for level in gap) or (ONE,) for gap in self._gaps)
        return ChainSpread(self.facts, spatial, self.dims)

    def widest(self) -> ChainSpread | None:
        """All ways at once; None where levels that hold nothing stand behind a fan-out."""
        if any(len(gap) > 1 for gap in self._gaps):
            return None
        most = (
            np.max([ONE, *(fan.units for level in gap for fan in self.fans[level])], axis=0)
            for gap in self._gaps
        )
        spatial = tuple((tuple(int(n) for n in units),) for units in most)
        return WidestSpread(self.facts, spatial, self.dims)

    def redundant(self, way: IntArray) -> tuple[Vector, ...]:
        """By gap and dimension, the most units below its own that another way has there.

        Where those suffice, the other way has the same mapping.
        """
        found = []
        for gap in self._gaps:
            if not gap:
                found.append((0,) * len(DIMS))
                continue
            found.append(units_below(self.space, gap[-1], int(way[gap[-1]])))
        if len(self._gaps[-1]) > 1:
            found[-1] = (0,) * len(DIMS)
        return tuple(found)

    def orders(self, m: int, iterates: tuple[bool, ...], kind: Any, halos: list[int]) -> list[int]:
        """Choices of a memory's loop order that differ in loops that iterate, of one class."""
        key = m, iterates, kind
        if key not in self._orders:
            place = {DIMS[d]: i for i, d in enumerate(self.dims)}
            seen: dict[tuple[int, ...], int] = {}
            for number, choice in enumerate(self.space.parameters[self._order[m]].choices):
                loops = [place[d] for d in str(choice) if iterates[place[d]]]
                if _is_of(loops, kind, halos):
                    seen.setdefault(tuple(loops), number)
            self._orders[key] = list(seen.values())
        return self._orders[key]

    def actions(
        self, way: IntArray, spread: ChainSpread, tiles: Any, kinds: Any, halos: list[int]
    ) -> tuple[IntArray, list[int], list[list[int]]]:
        """An action of a structure, the columns of loop orders, and the choices for each."""
        action = np.zeros(len(self.space.parameters), np.int64)
        for column, choice in self.picks.items():
            action[column] = choice
        for level, i in enumerate(way):
            for column, choice in self.fans[level][i].columns.items():
                action[column] = choice
        around = [int(v[-1]) for v in self.tiles.values]
        orders = []
        for m, columns in enumerate(self._tile):
            iterates = []
            for place, d in enumerate(self.dims):
                tile = int(self.tiles.values[place][tiles[m][place]])
                action[columns[place]] = self._picked[m][place][tiles[m][place]]
                shared = shared_out(spread.spatial, m, d, around[place])
                iterates.append(spread.stages(m + 1, d)[-1] * tile < shared)
                around[place] = tile
            orders.append(self.orders(m, tuple(iterates), kinds[m], halos))
        return action, self._order, orders


def _is_of(loops: list[int], kind: tuple[int, int], halos: list[int]) -> bool:
    """Whether loops that iterate, outermost first, are of a class."""
    if kind[0] < 0 or not loops:
        return kind[0] < 0 and not loops
    windows = [place for place in loops if place in halos]
    first = kind[1] in (-1, kind[0]) or not windows or windows[-1] == kind[1]
    return loops[-1] == kind[0] and first


def refused(space: Any, chip: Chain, layer: Any) -> str | None:
    """Why there are no proofs of a space on a chain, in one line; None where there are."""
    if not isinstance(space, ChainSpace) or space.full:
        return (
            "proofs on a chip that is a list of levels do not take full=True; leave it out, or say "
            "uneven=True and axis_dims=3 instead, which are all of it but bypass and tiled filters"
        )
    if not space.moving:
        return "the layer has no tiles to choose; use the method 'exhaustive'"
    taps = [p.name for p in space.parameters if p.kind == "tile" and p.dim in "RS"]
    if taps:
        return (
            f"the space tiles filters ({', '.join(taps)}), which bounds on a chip that is a list "
            "of levels do not know; use the method 'exhaustive' on a space that it can list"
        )
    if space.axis_dims > 1:
        try:
            fans_of(space)
        except ProveError as error:
            return str(error)
    most: dict[str, int] = {}
    for p in space.parameters:
        if p.kind == "tile":
            most[p.dim] = max(most.get(p.dim, 1), len(p))
    if math.prod(most.values()) > MOST_CELLS:
        return (
            f"a memory has {math.prod(most.values()):,} vectors of tiles to choose from, "
            f"expected at most {MOST_CELLS:,}; use tiles='divisors', or fix some of them (only)"
        )
    return None
