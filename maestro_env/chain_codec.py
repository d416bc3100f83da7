"""Actions of a space on a chip of any depth as mappings, and back; all rows at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import ChainBatch
from layers import DIMS, TENSORS
from maestro_env.chain_parameters import NONE, SpacePlan, SpreadPlan
from maestro_env.loop_orders import orders_of, ranks_of
from maestro_env.parameters import MapSpaceError, Parameter, not_offered
from marl_common import Int32Array, IntArray

NO_DIM = -1
FIELD = 32
"""Bits of a tile, below the number of its column where the tiles of all columns are one list."""
WIDTH = len(DIMS)


class ChainCodec:
    """Translates between actions and mappings.

    Args:
        plan: The parameters, and where they stand.
        parameters: The same, narrowed: what an action holds a choice of.
    """

    def __init__(self, plan: SpacePlan, parameters: tuple[Parameter, ...]) -> None:
        self._plan, self._parameters = plan, parameters
        self.levels = tuple(entry.level.name for entry in plan.entries)
        self.slots = tuple(spread.slot for spread in plan.spreads)
        self._extents = np.array(plan.layer.extents, np.int32)
        self._values = np.zeros((len(parameters), max(map(len, parameters))), np.int32)
        for column, parameter in enumerate(parameters):
            self._values[column, : len(parameter)] = _numbers(parameter)
            self._values[column, len(parameter) :] = self._values[column, len(parameter) - 1]
        tiles = [
            (column, e * WIDTH + DIMS.index(d))
            for e, entry in enumerate(plan.entries)
            for d, column in entry.tiles.items()
        ]
        self._tiles, self._boxes = np.array(tiles, np.int64).reshape(-1, 2).T
        listed = [self._values[column, : len(parameters[column])] for column in self._tiles]
        counts = np.array([len(choices) for choices in listed], np.int64)
        self._last, self._first = counts.cumsum() - 1, counts.cumsum() - counts
        self._above = np.arange(len(listed), dtype=np.int64) << FIELD
        self._listed = np.concatenate([np.empty(0, np.int64), *listed]) + self._above.repeat(counts)
        self._memories = [e for e, entry in enumerate(plan.entries) if entry.number >= 0]
        self._tables, self._narrow = {}, []
        self._alike: dict[str, list[int]] = {}
        for e in self._memories:
            entry = plan.entries[e]
            table = _whole_orders(entry.tiled)
            kept = [orders_of(entry.tiled).number[str(c)] for c in parameters[entry.order].choices]
            self._tables[e] = np.ascontiguousarray(table[kept])
            if len(parameters[entry.order]) < len(orders_of(entry.tiled).names):
                self._narrow.append(e)
            else:
                self._alike.setdefault(entry.tiled, []).append(e)
        self._shared = np.array([[d not in entry.tiled for d in DIMS] for entry in plan.entries])
        self._held = np.array([entry.level.holds for entry in plan.entries])
        self._dims = np.array([spread.dim for spread in plan.spreads], np.int64)
        self._units = np.array([spread.units for spread in plan.spreads], np.int64)

        self._movable = [
            moved
            for place, spread in enumerate(plan.spreads)
            for moved in range(place, place - spread.rank, -1)
            if self._offers_all(plan.spreads[moved - 1], plan.spreads[moved])
        ]

    def _offers_all(self, first: SpreadPlan, second: SpreadPlan) -> bool:
        """Whether a spread of an axis may be all that the next one may be."""
        pairs = (first.dim, second.dim), (first.units, second.units)
        return all(
            {*self._parameters[b].choices} - {NONE} <= {*self._parameters[a].choices}
            for a, b in pairs
        )

    def decode(self, actions: IntArray) -> ChainBatch:
        """``(B, P)`` legal actions as mappings; tiles are at most those around them."""
        size, depth = len(actions), len(self.levels)
        chosen = self._values[np.arange(len(self._parameters)), actions]
        tiles = np.zeros((size, depth, WIDTH), np.int32)
        tiles.reshape(size, len(self.levels) * WIDTH)[:, self._boxes] = chosen[:, self._tiles]
        self._clip(tiles)
        orders = np.empty((size, depth, WIDTH), np.int8)
        orders[:] = np.arange(WIDTH, dtype=np.int8)
        for e, table in self._tables.items():
            orders[:, e] = table[actions[:, self._plan.entries[e].order]]
        dims = chosen[:, self._dims].astype(np.int8)
        units = chosen[:, self._units]
        for place, spread in enumerate(self._plan.spreads):
            self._settle(place, spread, dims, units)
        for place in self._movable:
            self._move_up(place, dims, units)
        return ChainBatch(
            self.levels, self.slots, tiles, orders, dims, units, self._kept(actions),
            self._plan.chip,
        )  # fmt: skip

    def _clip(self, tiles: Int32Array) -> None:
        """Clip tiles to those of the memories around them, in place."""
        around: dict[str, int] = {}
        for e in self._memories:
            for d in self._plan.entries[e].tiled:
                if d in around:
                    column = DIMS.index(d)
                    np.minimum(
                        tiles[:, e, column], tiles[:, around[d], column], out=tiles[:, e, column]
                    )
                around[d] = e

    def _settle(self, place: int, spread: SpreadPlan, dims: Any, units: Any) -> None:
        """Leave out a spread that the chip does not allow beside the earlier ones, in place."""
        if spread.rank:
            none = dims[:, place] == NO_DIM
            taken = units[:, place - spread.rank : place].prod(axis=1)
            units[:, place] = np.minimum(units[:, place], spread.axis.units // taken)
            units[none, place] = 1
        for other in spread.rivals:
            rival = (dims[:, other] == dims[:, place]) & (units[:, other] > 1)
            dims[rival, place], units[rival, place] = NO_DIM, 1

    def _move_up(self, place: int, dims: Any, units: Any) -> None:
        """Let a spread of an axis stand where the one before it has one unit, in place."""
        alone = (units[:, place - 1] == 1) & (units[:, place] > 1)
        dims[alone, place - 1], units[alone, place - 1] = dims[alone, place], units[alone, place]
        dims[alone, place], units[alone, place] = NO_DIM, 1

    def _kept(self, actions: IntArray) -> NDArray[np.bool_] | None:
        if not self._plan.keeps:
            return None
        kept = np.zeros((len(actions), len(self.levels), len(TENSORS)), np.bool_)
        for e, entry in enumerate(self._plan.entries):
            kept[:, e] = entry.level.holds if entry.last and not entry.part else False
        rows = np.arange(len(actions))
        for keep in self._plan.keeps:
            part = self._values[keep.column, actions[:, keep.column]]
            for number, e in enumerate(keep.entries):
                kept[:, e, keep.tensor] = part == number
        for tensor in range(len(TENSORS)):  # what is kept nowhere is, as far inside as it can be
            nowhere = ~kept[:, :, tensor].any(axis=1)
            kept[rows[nowhere], self._innermost(tensor), tensor] = True
        return kept

    def _innermost(self, tensor: int) -> int:
        """The first entry of the innermost memory that holds a tensor."""
        return max(
            e
            for e, entry in enumerate(self._plan.entries)
            if entry.level.holds[tensor] and not entry.part
        )

    def encode(self, batch: ChainBatch) -> IntArray:
        """Mappings as canonical actions.

        Raises:
            MapSpaceError: One uses a value that the space does not offer.
        """
        if batch.levels != self.levels:
            raise MapSpaceError(
                f"mapping: its entries are {', '.join(batch.levels)}; expected "
                f"{', '.join(self.levels)}"
            )
        actions = np.zeros((len(batch), len(self._parameters)), np.int64)
        whole = batch.whole_tiles(self._plan.layer.extents)
        around = np.empty_like(whole)
        around[:, 0], around[:, 1:] = self._extents, whole[:, :-1]
        aligned = self._aligned(batch)
        self._encode_tiles(whole, around, actions)
        units = np.stack([aligned.units_along(e - 1) for e in range(len(self.levels))], axis=1)
        self._check_shares(whole, around, units)
        iterates = whole * units < around
        for tiled, entries in self._alike.items():
            columns = [self._plan.entries[e].order for e in entries]
            orders, iterating = aligned.orders[:, entries], iterates[:, entries]
            actions[:, columns] = _ranks(tiled, orders, iterating)
        for e in self._narrow:
            order = self._plan.entries[e].order
            actions[:, order] = self._rank(e, aligned.orders[:, e], iterates[:, e])
        for place, plan in enumerate(self._plan.spreads):
            self._encode_spread(plan, aligned.dims[:, place], aligned.units[:, place], actions)
        self._encode_keeps(batch, actions)
        return actions

    def _aligned(self, batch: ChainBatch) -> ChainBatch:
        """The same mappings with a spread for each of the space's."""
        if batch.slots == self.slots:
            return batch
        dims = np.full((len(batch), len(self.slots)), NO_DIM, np.int8)
        units = np.ones((len(batch), len(self.slots)), np.int32)
        free = list(range(len(self.slots)))
        for place, slot in enumerate(batch.slots):
            mine = [i for i in free if self.slots[i] == slot]
            if not mine:
                name = f"{self.levels[slot.entry]}.axis{slot.axis}"
                raise MapSpaceError(
                    f"mapping: {name} spreads one dimension more than the space does there; "
                    "use a space with a larger axis_dims"
                )
            free.remove(mine[0])
            dims[:, mine[0]], units[:, mine[0]] = batch.dims[:, place], batch.units[:, place]
        return ChainBatch(
            batch.levels, self.slots, batch.tiles, batch.orders, dims, units, batch.keeps
        )

    def _encode_tiles(self, whole: Int32Array, around: Int32Array, actions: IntArray) -> None:
        if not len(self._tiles):
            return
        size = len(whole)
        tile = whole.reshape(size, len(self.levels) * WIDTH)[:, self._boxes]
        most = around.reshape(size, len(self.levels) * WIDTH)[:, self._boxes]
        place = np.searchsorted(self._listed, tile + self._above)
        place = np.minimum(place, self._last)
        found = self._listed[place] - self._above
        wrong = (found < tile) | ((found != tile) & (tile != most))
        if wrong.any():
            row, i = (int(n) for n in np.argwhere(wrong)[0])
            raise _not_offered(row, self._parameters[self._tiles[i]], int(tile[row, i]))
        actions[:, self._tiles] = place - self._first

    def _check_shares(self, tiles: Int32Array, around: Int32Array, units: Int32Array) -> None:
        """Find out whether what has no tile of its own is what is around it, shared by units."""
        expected = -(-around // units)
        wrong = (tiles != expected) & self._shared
        if wrong.any():
            row, e, d = (int(n) for n in np.argwhere(wrong)[0])
            raise MapSpaceError(
                f"mapping {row}: {self._plan.entries[e].name} has tile {DIMS[d]}="
                f"{int(tiles[row, e, d])}, but in this space it takes what is around it, "
                f"{int(expected[row, e, d])}"
                + ("; use MapSpace(filters='free')" if DIMS[d] in "RS" else "")
            )

    def _rank(self, e: int, orders: Any, iterates: Any) -> IntArray:
        """Numbers of loop orders where not every one is offered.

        The first is taken that has the loops that iterate in this order.
        """
        entry = self._plan.entries[e]
        parameter = self._parameters[entry.order]
        wanted = iterating(orders, iterates)
        place = np.full(len(orders), -1, np.int64)
        for choice in range(len(parameter) - 1, -1, -1):
            offered = np.broadcast_to(self._tables[e][choice], orders.shape)
            place[iterating(offered, iterates) == wanted] = choice
        if (place < 0).any():
            row = int(np.argmin(place))
            order = "".join(DIMS[d] for d in orders[row] if DIMS[d] in entry.tiled)
            raise _not_offered(row, parameter, order)
        return place

    def _encode_spread(self, plan: SpreadPlan, dims: Any, units: Any, actions: IntArray) -> None:
        none = (dims == NO_DIM) | (units == 1)
        dims = np.where(none, self._values[plan.dim, 0], dims)
        actions[:, plan.dim] = self._places(plan.dim, dims, DIMS.__getitem__)
        actions[:, plan.units] = self._places(plan.units, np.where(none, 1, units), int)

    def _places(
        self, column: int, wanted: NDArray[Any], shown: Callable[[int], int | str]
    ) -> IntArray:
        """Places of values among the choices of a column; `shown` is how a message has them."""
        parameter = self._parameters[column]
        choices = self._values[column, : len(parameter)]
        place: IntArray = (choices[None] == wanted[:, None]).argmax(axis=1)
        wrong = choices[place] != wanted
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _not_offered(row, parameter, shown(int(wanted[row])))
        return place

    def _encode_keeps(self, batch: ChainBatch, actions: IntArray) -> None:
        held = self._held
        if batch.keeps is None and not self._plan.keeps:
            return
        kept = np.broadcast_to(held, (len(batch), *held.shape))
        if batch.keeps is not None:
            kept = batch.keeps
        if not self._plan.keeps and (kept != held).any():
            raise MapSpaceError(
                "mapping: lets a tensor bypass a memory that could hold it, but every memory of "
                "this space keeps what it holds; use a space with full=True"
            )
        for keep in self._plan.keeps:
            mine = kept[:, list(keep.entries), keep.tensor]
            part = np.where(mine.any(axis=1), mine.argmax(axis=1), -1)
            actions[:, keep.column] = self._places(
                keep.column, part, lambda part: part + 1 if part >= 0 else NONE
            )


def iterating(orders: Any, iterates: Any) -> IntArray:
    """``(...,)`` the loops that iterate, outermost first, as digits of a number.

    Args:
        orders: ``(..., 8)`` indices of dimensions, outermost loop first.
        iterates: ``(..., 8)`` whether each dimension's loop does.
    """
    flat = orders.reshape(-1, WIDTH)
    rows = WIDTH * np.arange(len(flat))[:, None]
    places = iterates.reshape(-1)[rows + flat].T
    bases, digits = np.where(places, WIDTH + 1, 1), np.where(places, flat.T + 1, 0)
    found = np.zeros(len(flat), np.int64)
    for base, digit in zip(bases, digits, strict=True):
        found = found * base + digit
    return found.reshape(orders.shape[:-1])


def _ranks(tiled: str, orders: Any, iterates: Any) -> IntArray:
    """``(B, n)`` numbers of loop orders; loops that never iterate are innermost, by dimension.

    Args:
        tiled: The dimensions.
        orders: ``(B, n, 8)`` indices of dimensions, outermost loop first.
        iterates: ``(B, n, 8)`` whether each dimension's loop does.
    """
    dims = [DIMS.index(d) for d in tiled]
    keys = np.argsort(orders, axis=-1)[..., dims]
    keys = np.where(iterates[..., dims], keys, WIDTH + np.arange(len(dims)))
    ranked = np.argsort(keys, axis=-1, kind="stable").astype(np.int8)
    count = math.prod(orders.shape[:-1])
    return ranks_of(ranked.reshape(count, len(dims))).reshape(orders.shape[:-1])


def _not_offered(row: int, parameter: Parameter, value: int | str) -> MapSpaceError:
    return MapSpaceError(f"mapping {row}: {not_offered(parameter, value)}")


def _numbers(parameter: Parameter) -> list[int]:
    """What a parameter's choices are in arrays."""
    if parameter.kind == "order":
        return list(range(len(parameter)))
    if parameter.kind in ("parallel", "parallel2"):
        return [DIMS.index(str(c)) if c != NONE else NO_DIM for c in parameter.choices]
    if parameter.kind == "keeps":
        parts = {NONE: -1, "kept": 0}
        return [parts[str(c)] if c in parts else int(c) - 1 for c in parameter.choices]
    return [int(c) for c in parameter.choices]


def _whole_orders(tiled: str) -> NDArray[np.int8]:
    """``(n!, 8)``: orders of some dimensions, with those that never iterate inside them."""
    outer = orders_of(tiled).table[:, WIDTH - len(tiled) :]
    rest = [i for i, d in enumerate(DIMS) if d not in tiled]
    inner = np.broadcast_to(np.array(rest, np.int8), (len(outer), len(rest)))
    return np.concatenate([outer, inner], axis=1)
