"""What the decisions of a problem may choose, and mappings as the choices that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import ChainBatch, MappingBatch
from layers import DIMS
from maestro_env import Problem
from mapper.pretrained.decisions import DECISIONS, SPREADS, Decision
from mapper.pretrained.seen_records import StateRow
from marl_common import IntArray

Mappings = MappingBatch | ChainBatch


@dataclass(frozen=True)
class NestChoices:
    """The decisions of a problem.

    Args:
        problem: The problem.
    """

    problem: Problem

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

    @cached_property
    def _names(self) -> tuple[list[str], list[str], list[str]]:
        """What the map space calls dimensions and units of spreads, and begins names of memories.

        On a chip of two levels clusters follow from their size.
        """
        if self.plan is None:
            return ["outer_parallel", "inner_parallel"], ["", "cluster_size"], ["inner_", "outer_"]
        names, spreads = self.problem.space.names, [self.plan.spreads[s] for s in self.spreads]
        memories = [self.plan.entries[e].name + "." for e in self.entries]
        return [names[s.dim] for s in spreads], [names[s.units] for s in spreads], memories

    def name(self, decision: Decision) -> str:
        """What the map space calls the parameter, of an order the kind; empty where none is."""
        dims, units, memories = self._names
        found = {"parallel": dims, "units": units}.get(decision.kind, memories)[decision.number :]
        if not found or decision.kind in ("parallel", "units"):
            return found[0] if found else ""
        return found[0] + ("order" if decision.kind == "order" else f"tile_{DIMS[decision.dim]}")

    @cached_property
    def choices(self) -> list[list[int]]:
        """What each decision may choose: dimensions, units, tiles, or loops; none: no decision."""
        return [self._of(decision, self.name(decision)) for decision in DECISIONS]

    def _of(self, decision: Decision, name: str) -> list[int]:
        space, number = self.problem.space, decision.number
        if name and decision.kind == "order":
            tiled = self.plan.entries[self.entries[number]].tiled if self.plan else DIMS
            return [DIMS.index(d) for d in space.moving if d in tiled]
        if name not in space.names:  # what no tile cuts is whole on two levels
            whole = self.problem.layer.extents[decision.dim]
            return [whole] if name and self.plan is None else []
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
            if decision.kind != "order" and held and (len(held) == 1 or decision.kind == "tile"):
                part_of(decision, row[None])[:] = held[0]
        return row

    def mappings(self, rows: NDArray[Any]) -> Mappings:
        """`B` mappings of ``(B,)`` records in which all is chosen."""
        plan = self.plan
        depth, across = (len(plan.entries), len(plan.spreads)) if plan else (2, 2)
        tiles = _placed(rows["tiles"], self.entries, depth, np.zeros(len(DIMS), np.int32))
        orders = _placed(rows["orders"], self.entries, depth, np.arange(len(DIMS), dtype=np.int8))
        dims = _placed(rows["dims"], self.spreads, across, np.int8(-1))
        units = _placed(rows["units"], self.spreads, across, np.int32(1))
        if plan is None:
            return MappingBatch(orders, dims, tiles, units[:, 1].copy(), None)
        keeps = None
        if plan.keeps:  # the first entry of a memory keeps all that it holds
            held = [
                np.array(entry.level.holds) & (e in self.entries)
                for e, entry in enumerate(plan.entries)
            ]
            keeps = np.repeat(np.array(held)[None], len(rows), axis=0)
        levels = tuple(entry.level.name for entry in plan.entries)
        slots = tuple(spread.slot for spread in plan.spreads)
        return ChainBatch(levels, slots, tiles, orders, dims, units, keeps)

    def rows(self, given: Any) -> NDArray[Any]:
        """``(B,)`` records of the choices that lead to mappings of the problem's space."""
        rows = np.repeat(self.begin()[None], len(given), axis=0)
        rows["tiles"][:, : len(self.entries)] = given.tiles[:, self.entries]
        rows["orders"][:, : len(self.entries)] = given.orders[:, self.entries]
        if self.plan is None:
            rows["dims"][:, :2], rows["units"][:, 1] = given.parallel, given.cluster_size
        else:
            rows["dims"][:, : len(self.spreads)] = given.dims[:, self.spreads]
            rows["units"][:, : len(self.spreads)] = given.units[:, self.spreads]
        return rows


def _placed(found: IntArray, places: list[int], count: int, others: Any) -> NDArray[Any]:
    """``(B, count, ...)``: what was found at its places, and what `others` have at all others."""
    array = np.full((len(found), count, *found.shape[2:]), others, others.dtype)
    array[:, places] = found[:, : len(places)]
    return array


def part_of(decision: Decision, rows: NDArray[Any]) -> IntArray:
    """What a decision chooses in each row: ``(B,)``, of an order ``(B, D)``; no copy."""
    name = {"parallel": "dims", "units": "units", "tile": "tiles", "order": "orders"}
    found: IntArray = rows[name[decision.kind]][:, decision.number]
    return found[:, decision.dim] if decision.kind == "tile" else found
