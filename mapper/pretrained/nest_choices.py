"""What the decisions of a problem may choose, and mappings as the choices that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain, ChainBatch, MappingBatch
from layers import DIMS
from maestro_env import Problem
from mapper.pretrained.decisions import DECISIONS, SPREADS, Decision
from mapper.pretrained.seen_records import StateRow
from marl_common import IntArray

Mappings = MappingBatch | ChainBatch
OF_TWO_LEVELS = {
    ("parallel", 0): "outer_parallel", ("parallel", 1): "inner_parallel",
    ("units", 1): "cluster_size",
    ("tile", 0): "inner_tile", ("tile", 1): "outer_tile",
    ("order", 0): "inner_order", ("order", 1): "outer_order",
}  # fmt: skip
"""What the space of L2 and L1 calls decisions; of tiles, without the dimension."""


@dataclass(frozen=True)
class NestChoices:
    """The decisions of a problem.

    Args:
        problem: The problem.
    """

    problem: Problem

    @cached_property
    def chain(self) -> Chain:
        """The chip as a list of levels; PEs of a chip of two stand below L2."""
        chip = self.problem.accelerator
        return chip if isinstance(chip, Chain) else chip.to_levels()

    @cached_property
    def plan(self) -> Any:
        """Where the parameters of a list of levels stand; None on a chip of L2 and L1."""
        return getattr(self.problem.space, "plan", None)

    @cached_property
    def entries(self) -> list[int]:
        """The first entry of each memory, from the innermost one."""
        if self.plan is None:
            return [1, 0]
        entries = enumerate(self.plan.entries)
        return [e for e, entry in entries if entry.number >= 0 and not entry.part][::-1]

    @cached_property
    def spreads(self) -> list[int]:
        """The first spread of each axis, from the outermost one; no more than `SPREADS`."""
        if self.plan is None:
            return [0, 1]
        return [s for s, spread in enumerate(self.plan.spreads) if not spread.rank][:SPREADS]

    def name(self, decision: Decision) -> str:
        """What the map space calls the parameter, of an order the kind; empty where there is none.

        On a chip of two levels clusters follow from their size.
        """
        kind, number, d = decision.kind, decision.number, decision.dim
        if self.plan is None:
            found = OF_TWO_LEVELS.get((kind, number), "")
            return f"{found}_{DIMS[d]}" if found and d >= 0 else found
        of_spread = kind in ("parallel", "units")
        places = self.spreads if of_spread else self.entries
        if number >= len(places):
            return ""
        if of_spread:
            spread = self.plan.spreads[places[number]]
            column = spread.dim if kind == "parallel" else spread.units
        else:
            entry = self.plan.entries[places[number]]
            column = entry.order if d < 0 else entry.tiles.get(DIMS[d], -1)
        return self.problem.space.names[column] if column >= 0 else ""

    @cached_property
    def choices(self) -> list[list[int]]:
        """What each decision may choose: dimensions, units, tiles, or loops; none: no decision."""
        return [self._of(decision, self.name(decision)) for decision in DECISIONS]

    def _of(self, decision: Decision, name: str) -> list[int]:
        space, number = self.problem.space, decision.number
        if name and decision.is_order:
            tiled = self.plan.entries[self.entries[number]].tiled if self.plan else DIMS
            return [DIMS.index(d) for d in space.moving if d in tiled]
        if name not in space.names:  # a filter of two levels that no tile cuts
            whole = self.problem.layer.extents[decision.dim]
            return [whole] if name and decision.kind == "tile" else []
        choices: Any = space.parameters[space.index(name)].choices
        if decision.kind == "parallel":
            return [DIMS.index(d) for d in choices]
        if decision.kind == "units" and self.plan is not None:
            return self._units(np.array(choices), self.plan.spreads[self.spreads[number]].dim)
        return list(choices)

    def _units(self, units: IntArray, column: int) -> list[int]:
        """The units that are the fewest for their steps in some dimension, and all there are."""
        dims, layer = self.problem.space.parameters[column].choices, self.problem.layer
        n = np.array([layer.extents[DIMS.index(str(d))] for d in dims])[:, None]
        fewest = (-(-n // -(-n // units)) == units).any(axis=0)
        fewest[[0, -1]] = True
        found: list[int] = units[fewest].tolist()
        return found

    def begin(self) -> NDArray[Any]:
        """``()`` record `seen_records.StateRow`: no choice made, what has one choice stands."""
        row = np.zeros((), StateRow)
        row["dims"], row["units"], row["orders"] = -1, 1, np.arange(len(DIMS))
        for decision, held in zip(DECISIONS, self.choices, strict=True):
            if not decision.is_order and held and (len(held) == 1 or decision.kind == "tile"):
                part_of(decision, row[None])[:] = held[0]
        return row

    def mappings(self, rows: NDArray[Any]) -> Mappings:
        """`B` mappings of ``(B,)`` records in which all is chosen."""
        plan, size = self.plan, len(rows)
        depth, across = (len(plan.entries), len(plan.spreads)) if plan else (2, 2)
        tiles = np.zeros((size, depth, len(DIMS)), np.int32)
        orders = np.empty(tiles.shape, np.int8)
        orders[:] = np.arange(len(DIMS))
        dims = np.full((size, across), -1, np.int8)
        units = np.ones(dims.shape, np.int32)
        for name, array, places in self._fields(tiles, orders, dims, units):
            array[:, places] = rows[name][:, : len(places)]
        if plan is None:
            return MappingBatch(orders, dims, tiles, units[:, 1].copy(), None)
        keeps = None
        if plan.keeps:  # the first entry of a memory keeps all that it holds
            held = [
                np.array(entry.level.holds) & (e in self.entries)
                for e, entry in enumerate(plan.entries)
            ]
            keeps = np.repeat(np.array(held)[None], size, axis=0)
        levels = tuple(entry.level.name for entry in plan.entries)
        slots = tuple(spread.slot for spread in plan.spreads)
        return ChainBatch(levels, slots, tiles, orders, dims, units, keeps)

    def rows(self, given: Any) -> NDArray[Any]:
        """``(B,)`` records of the choices that lead to mappings of the problem's space."""
        rows = np.repeat(self.begin()[None], len(given), axis=0)
        if self.plan is None:
            spread = (
                given.parallel,
                np.stack([np.ones_like(given.cluster_size), given.cluster_size], 1),
            )
        else:
            spread = given.dims, given.units
        for name, array, places in self._fields(given.tiles, given.orders, *spread):
            rows[name][:, : len(places)] = array[:, places]
        return rows

    def _fields(self, *arrays: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any], list[int]]]:
        """Tiles, orders, dimensions and units of mappings, with what records call each.

        Beside them stands where in them the agents' memories and spreads are.
        """
        places = (self.entries, self.entries, self.spreads, self.spreads)
        return zip(("tiles", "orders", "dims", "units"), arrays, places, strict=True)


def part_of(decision: Decision, rows: NDArray[Any]) -> IntArray:
    """What a decision chooses in each row: ``(B,)``, of an order ``(B, D)``; no copy."""
    name = {"parallel": "dims", "units": "units", "tile": "tiles", "order": "orders"}
    found: IntArray = rows[name[decision.kind]][:, decision.number]
    return found[:, decision.dim] if decision.kind == "tile" else found
