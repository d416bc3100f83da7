"""What a space on a chain offers: ways of spreading units, tiles, loop orders; for the checker.

Of choices that spread the same units along every dimension (none beyond its extent) with the same
sharing, the first one stands for all. A way that needs fewer units stands for those that would
leave units idle.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cost_models import Chain
from layers import DIMS
from maestro_env import ChainSpace, Problem
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.relaxation import Boxes
from marl_common import BoolArray, IntArray

D = len(DIMS)
Vector = tuple[int, ...]
FEW = "tree: it has {:,} numbers for {:,} ways to spread units; some are missing"


class ChainFan(NamedTuple):
    """One way of spreading the units of one level.

    Args:
        units: Units along each dimension.
        alone: Dimensions whose units do not share reads, or sums, with what they share.
        picks: Choices of an action that stand for it, by column.
        copies: How many choices come to it.
    """

    units: Vector
    alone: tuple[Any, ...]
    picks: dict[int, int]
    copies: int


class ChainGrid:
    """The ways, tiles and loop orders of a space.

    Args:
        problem: The problem.
        most: Numbers of the proof that is checked, one a way at least; None: none is.

    Attributes:
        fans: By level of the chip, DRAM first, its ways of spreading units.
        ways: ``(W, L)`` a fan of each level.
        gaps: Levels between one memory and the next, the last ones those behind the last memory.
        dims: Dimensions with tiles.
        tiles: By memory inside DRAM and dimension of `dims`, the tiles that are offered.

    Raises:
        CertificateError: The space is not even, tiles filters, or has more ways than the proof.
    """

    def __init__(self, problem: Problem, most: int | None = None) -> None:
        space, chip = problem.space, problem.accelerator
        assert isinstance(space, ChainSpace)
        assert isinstance(chip, Chain)
        tiled = {p.dim for p in space.parameters if p.kind == "tile"}
        if space.uneven or space.axis_dims > 1 or space.full or tiled & {"R", "S"}:
            raise CertificateError(
                "problem.space: certificates are of the default space; prove again"
            )
        self.space, self.chip, self.extents = space, chip, problem.layer.extents
        self.columns = {p.name: i for i, p in enumerate(space.parameters)}
        if most is not None and self._choices() > 2000 * most + 100_000:
            raise CertificateError(FEW.format(most, self._choices()))
        self.fans = [self._fans(level.name) for level in chip.levels]
        if most is not None and (many := math.prod(map(len, self.fans))) > most:
            raise CertificateError(FEW.format(most, many))
        self.ways = np.array(list(product(*(range(len(fans)) for fans in self.fans))), np.int64)
        self.gaps: list[list[int]] = []
        for place, level in enumerate(chip.levels):
            if place == 0 or level.is_memory:
                self.gaps.append([])
            self.gaps[-1].append(place)
        self.dims = [DIMS.index(d) for d in space.moving]
        self._tile_columns = [
            [self.columns[f"{level.name}.tile_{DIMS[d]}"] for d in self.dims]
            for level in chip.memories
        ]
        self._order_columns = [self.columns[f"{level.name}.order"] for level in chip.memories]
        self.tiles = [
            [np.array(space.parameters[c].choices, np.int64) for c in row]
            for row in self._tile_columns
        ]
        self._lists = [[tiles.tolist() for tiles in row] for row in self.tiles]
        self._alike = cache(self._alike_of)
        self._spatial: dict[bytes, tuple[tuple[Vector, ...], ...]] = {}
        self._fewer: dict[bytes, tuple[Vector, ...]] = {}

    def _choices(self) -> int:
        """How many choices :meth:`_fans` lists of all levels."""
        names = [f"{level.name}.axis" for level in self.chip.levels]
        return sum(
            math.prod(
                len(self.space.parameters[i]) for n, i in self.columns.items() if n.startswith(name)
            )
            for name in names
        )

    def _fans(self, name: str) -> list[ChainFan]:
        own = [i for n, i in self.columns.items() if n.startswith(f"{name}.axis")]
        if not own:
            return [ChainFan((1,) * D, (), {}, 1)]
        picks = list(product(*(range(len(self.space.parameters[i])) for i in own)))
        actions = np.zeros((len(picks), len(self.space.parameters)), np.int64)
        actions[:, own] = picks
        found: dict[Any, ChainFan] = {}
        for pick, mapping in zip(picks, self.space.decode(actions), strict=True):
            entry = next(e for e in mapping.entries if e.level == name)
            units, alone = [1] * D, set()
            for spread in entry.parallel:
                d, axis = (
                    DIMS.index(spread.dim),
                    self.chip.levels[self.chip.position(name)].fanout.axes[spread.axis],
                )
                units[d] *= spread.units or 1
                if not (axis.multicast and axis.reduce):
                    alone.add((d, axis.multicast, axis.reduce))
            key = tuple(map(min, units, self.extents)), tuple(sorted(alone))
            known = found.get(key)
            copies = 1 if known is None else known.copies + 1
            first = dict(zip(own, pick, strict=True)) if known is None else known.picks
            found[key] = ChainFan(*key, first, copies)
        return list(found.values())

    @property
    def size(self) -> int:
        """How many actions its ways, tiles and loop orders stand for."""
        ways = math.prod(sum(fan.copies for fan in fans) for fans in self.fans)
        tiles = math.prod(len(tiles) for row in self.tiles for tiles in row)
        return ways * tiles * math.prod(len(self.space.parameters[c]) for c in self._order_columns)

    def spatial(self, way: IntArray) -> tuple[tuple[Vector, ...], ...]:
        """Units along each dimension, by gap and level in it."""
        key = way.tobytes()
        if key not in self._spatial:
            fans = [self.fans[level][pick] for level, pick in enumerate(way)]
            self._spatial[key] = tuple(
                tuple(fans[level].units for level in gap) for gap in self.gaps
            )
        return self._spatial[key]

    def fewer(self, way: IntArray) -> tuple[Vector, ...]:
        """By gap and dimension, the most units below its own of a way that is the same otherwise.

        Where those suffice, that way has the same mapping. It is of the last level of a gap: units
        of the others share a tile evenly. 0: there is none.
        """
        key = way.tobytes()
        if key not in self._fewer:
            self._fewer[key] = self._find_fewer(way)
        return self._fewer[key]

    def _find_fewer(self, way: IntArray) -> tuple[Vector, ...]:
        found: list[Vector] = []
        for gap in self.gaps:
            fans = self.fans[gap[-1]]
            own = fans[way[gap[-1]]]
            row = []
            for d in range(D):
                same = [
                    fan.units[d] for fan in fans
                    if fan.alone == own.alone and fan.units[d] < own.units[d]
                    and all(fan.units[e] == own.units[e] for e in range(D) if e != d)
                ]  # fmt: skip
                row.append(max(same, default=0))
            found.append(tuple(row))
        if len(self.gaps[-1]) > 1:
            found[-1] = (0,) * D
        return tuple(found)

    def shared(
        self, spatial: tuple[tuple[Vector, ...], ...], m: int, place: int, around: int
    ) -> int:
        """What levels that hold nothing leave of memory `m` - 1's tile to the last one's units."""
        for units in spatial[m - 1][:-1]:
            around = -(-around // units[self.dims[place]])
        return around

    def offered(self, way: IntArray, m: int, place: int, around: int) -> IntArray:
        """Tiles of a memory along a dimension, ascending, given the tile of the memory around.

        A tile that is larger than what is around counts as that; where fewer units would suffice,
        another way has the mapping.
        """
        shared = self.shared(self.spatial(way), m, place, around)
        tiles = np.unique(np.minimum(self.tiles[m - 1][place], shared))
        fewer = self.fewer(way)
        few, behind = fewer[m - 1][self.dims[place]], fewer[-1][self.dims[place]]
        needed = tiles * few < shared if few else tiles > 0
        return tiles[needed & (tiles > behind)] if m == len(self.tiles) else tiles[needed]

    def boxes(self, ways: IntArray, high: IntArray | None = None) -> Boxes:
        """``(B, L)`` ways, and ``(B, M, 8)`` largest tiles (none: what there is), as boxes."""
        memories = self.chip.memories
        units = np.ones((len(ways), len(self.gaps), D), np.int64)
        for g, gap in enumerate(self.gaps):
            for level in gap:
                units[:, g] *= np.array([fan.units for fan in self.fans[level]])[ways[:, level]]
        if high is None:
            most = np.tile(np.array(self.extents), (len(memories), 1))
            for m, row in enumerate(self.tiles):
                most[m, self.dims] = [tiles.max() for tiles in row]
            high = np.broadcast_to(most, (len(ways), *most.shape))
        direct: BoolArray = np.broadcast_to(~np.array(memories[0].holds), (len(ways), 3))
        return Boxes(units, high, direct)

    def actions(self, way: IntArray, tiles: Any, kinds: Any) -> IntArray:
        """``(n, P)`` actions of a structure with all orders of loops that differ.

        Args:
            way: The way.
            tiles: By memory, its tiles along `dims`.
            kinds: By memory, the innermost loop that iterates, and the first loop inside over rows
                or columns whose neighbours share inputs, as places in `dims`; -1 for any.
        """
        action = np.zeros(len(self.space.parameters), np.int64)
        for level, pick in enumerate(way):
            for column, choice in self.fans[level][pick].picks.items():
                action[column] = choice
        spatial, around = self.spatial(way), [self.extents[d] for d in self.dims]
        orders = []
        for m, (columns, mine) in enumerate(zip(self._tile_columns, tiles, strict=True), 1):
            loops = []
            for place, (column, tile) in enumerate(zip(columns, mine, strict=True)):
                action[column] = bisect_left(self._lists[m - 1][place], tile)
                shared = self.shared(spatial, m, place, around[place])
                if spatial[m - 1][-1][self.dims[place]] * tile < shared:
                    loops.append(place)
            orders.append(self._alike(m, tuple(loops), kinds[m - 1]))
            around = list(mine)
        combined = list(product(*orders))
        rows = np.repeat(action[None], len(combined), axis=0)
        rows[:, self._order_columns] = np.array(combined, np.int64).reshape(len(combined), -1)
        return rows

    def _alike_of(self, m: int, loops: Vector, kind: tuple[int, int, Vector]) -> list[int]:
        """Choices of a memory's order that differ in some loops, and are of a kind."""
        place = {DIMS[d]: i for i, d in enumerate(self.dims)}
        seen: dict[Vector, int] = {}
        for number, choice in enumerate(self.space.parameters[self._order_columns[m - 1]].choices):
            order = tuple(place[d] for d in str(choice) if place[d] in loops)
            if _is_of(order, *kind):
                seen.setdefault(order, number)
        return list(seen.values())


def _is_of(order: Vector, innermost: int, window: int, windows: Vector) -> bool:
    """Whether loops that iterate, outermost first, are of a kind."""
    if not order or innermost < 0:
        return not order and innermost < 0
    inner = [place for place in order if place in windows]
    any_window = window in (-1, innermost) or not inner
    return order[-1] == innermost and (any_window or inner[-1] == window)
