"""What the decisions of a problem may choose, and mappings as the choices that lead to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import ChainBatch, MappingBatch
from layers import DIMS
from maestro_env import Problem
from mapper.pretrained.decisions import DECISIONS, SPREADS, TURNED, Decision
from mapper.pretrained.seen_records import StateRow
from marl_common import IntArray

Mappings = MappingBatch | ChainBatch


class NestChoices:
    """The decisions of a problem.

    Args:
        problem: The problem.

    Attributes:
        plan: Where the parameters of a list of levels stand; None on a chip of L2 and L1.
        entries: The first entry of each memory, from the innermost one.
        spreads: The first spread of each axis, from the outermost one; no more than `SPREADS`.
        choices: What each decision may choose: dimensions, units, tiles, or loops; nothing where
            there is no decision.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.plan: Any = getattr(problem.space, "plan", None)
        if self.plan is None:  # clusters follow from their size
            self.entries, self.spreads = [1, 0], [0, 1]
            dims, units = ["outer_parallel", "inner_parallel"], ["", "cluster_size"]
            memories = ["inner_", "outer_"]
        else:
            names, every = problem.space.names, enumerate(self.plan.entries)
            self.entries = [e for e, one in every if one.number >= 0 and not one.part][::-1]
            every = enumerate(self.plan.spreads)
            self.spreads = [s for s, spread in every if not spread.rank][:SPREADS]
            spreads = [self.plan.spreads[s] for s in self.spreads]
            dims, units = [names[s.dim] for s in spreads], [names[s.units] for s in spreads]
            memories = [self.plan.entries[e].name + "." for e in self.entries]
        self._names = {"parallel": dims, "units": units, "tile": memories, "order": memories}
        self.choices = [self._of(decision, self.name(decision)) for decision in DECISIONS]

    def name(self, decision: Decision) -> str:
        """What the map space calls the parameter, of an order the kind; empty where none is."""
        _, kind, number, dim = decision
        begins = self._names[kind][number:]
        ends = {"tile": f"tile_{DIMS[dim]}", "order": "order"}
        return begins[0] + ends.get(kind, "") if begins else ""

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
        if decision.kind != "units" or self.plan is None:
            return list(choices)
        # units that are the fewest for their steps in some dimension, and all there are
        dims = space.parameters[self.plan.spreads[self.spreads[number]].dim].choices
        n = np.array([self.problem.layer.extents[DIMS.index(str(d))] for d in dims])[:, None]
        units = np.array(choices)
        fewest = (-(-n // -(-n // units)) == units).any(axis=0)
        fewest[[0, -1]] = True
        return [int(size) for size in units[fewest]]

    def begin(self) -> NDArray[Any]:
        """``()`` record `seen_records.StateRow`: no choice made, what has one choice stands."""
        row = np.zeros((), StateRow)
        row["parallel"], row["units"], row["order"] = -1, 1, np.arange(len(DIMS))
        for decision, held in zip(DECISIONS, self.choices, strict=True):
            if decision.kind != "order" and held and (len(held) == 1 or decision.kind == "tile"):
                row[decision.kind][index_of(decision, row[None])[1:]] = held[0]
        return row

    def mappings(self, rows: NDArray[Any]) -> Mappings:
        """`B` mappings of ``(B,)`` records in which all is chosen."""
        plan = self.plan
        depth, across = (len(plan.entries), len(plan.spreads)) if plan else (2, 2)
        tiles = _placed(rows["tile"], self.entries, depth, np.zeros(len(DIMS), np.int32))
        orders = _placed(rows["order"], self.entries, depth, np.arange(len(DIMS), dtype=np.int8))
        dims = _placed(rows["parallel"], self.spreads, across, np.int8(-1))
        units = _placed(rows["units"], self.spreads, across, np.int32(1))
        if plan is None:
            return MappingBatch(orders, dims, tiles, units[:, 1].copy(), None)
        levels = tuple(entry.level.name for entry in plan.entries)
        slots = tuple(spread.slot for spread in plan.spreads)
        keeps = None
        if plan.keeps:  # the first entry of a memory keeps all that it holds
            keeps = np.zeros((len(rows), depth, 3), bool)
            keeps[:, self.entries] = [plan.entries[e].level.holds for e in self.entries]
        return ChainBatch(levels, slots, tiles, orders, dims, units, keeps)

    def rows(self, given: Any) -> NDArray[Any]:
        """``(B,)`` records of the choices that lead to mappings of the problem's space."""
        rows = np.repeat(self.begin()[None], len(given), axis=0)
        rows["tile"][:, : len(self.entries)] = given.tiles[:, self.entries]
        rows["order"][:, : len(self.entries)] = given.orders[:, self.entries]
        if self.plan is None:
            rows["parallel"][:, :2], rows["units"][:, 1] = given.parallel, given.cluster_size
        else:
            rows["parallel"][:, : len(self.spreads)] = given.dims[:, self.spreads]
            rows["units"][:, : len(self.spreads)] = given.units[:, self.spreads]
        return rows


def _placed(found: IntArray, places: list[int], count: int, others: Any) -> NDArray[Any]:
    """``(B, count, ...)``: what was found at its places, and what `others` have at all others."""
    array = np.full((len(found), count, *found.shape[2:]), others, others.dtype)
    array[:, places] = found[:, : len(places)]
    return array


def index_of(decision: Decision, rows: NDArray[Any]) -> tuple[Any, ...]:
    """Index of what a decision chooses in the rows' field of its kind; of an order `D` numbers."""
    everyone = np.arange(len(rows)), decision.number
    if decision.kind != "tile":
        return everyone
    return *everyone, np.where(rows["turned"], TURNED[decision.dim], decision.dim)
