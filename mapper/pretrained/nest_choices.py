"""What the decisions of a problem may choose, and mappings as the choices that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

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
    def deep(self) -> bool:
        """Whether the chip is a list of levels."""
        return isinstance(self.problem.accelerator, Chain)

    @cached_property
    def memories(self) -> tuple[str, ...]:
        """Names of the memories, from the innermost one."""
        return tuple(level.name for level in reversed(self.chain.memories))

    @cached_property
    def spreads(self) -> tuple[str, ...]:
        """Names of the spreads, ``LEVEL.axisN``, from the outermost one; no more than `SPREADS`."""
        if not self.deep:
            return ("clusters", "PEs")
        found = [p.name for p in self.problem.space.parameters if p.kind == "parallel"]
        return tuple(name.removesuffix(".dim") for name in found[:SPREADS])

    def name(self, decision: Decision) -> str:
        """What the map space calls the parameter, of an order the kind; empty where there is none.

        On a chip of two levels clusters follow from their size.
        """
        kind, number = decision.kind, decision.number
        dim = f"_{DIMS[decision.dim]}" if decision.dim >= 0 else ""
        if not self.deep:
            found = OF_TWO_LEVELS.get((kind, number), "")
            return f"{found}{dim}" if found else ""
        of_spread = kind in ("parallel", "units")
        places = self.spreads if of_spread else self.memories
        if number >= len(places):
            return ""
        return f"{places[number]}.{'dim' if kind == 'parallel' else kind}{dim}"

    @cached_property
    def choices(self) -> list[list[int]]:
        """What each decision may choose: dimensions, units, tiles, or loops; none: no decision."""
        asked = (p for p in self.problem.space.parameters if p.kind not in ("order", "keeps"))
        known = {p.name: _numbers(p.choices) for p in asked}
        return [self._of(decision, self.name(decision), known) for decision in DECISIONS]

    def _of(self, decision: Decision, name: str, known: dict[str, list[int]]) -> list[int]:
        if not name:
            return []
        if decision.is_order:
            moving = [DIMS.index(d) for d in self.problem.space.moving]
            tile = name.removesuffix("order") + "tile_"
            return [d for d in moving if not self.deep or f"{tile}{DIMS[d]}" in known]
        if decision.kind == "units" and self.deep:
            return self._units(known[name], known[f"{self.spreads[decision.number]}.dim"])
        if decision.kind == "tile" and not self.deep:
            return known.get(name, [self.problem.layer.extents[decision.dim]])
        return known.get(name, [])

    def _units(self, units: list[int], dims: list[int]) -> list[int]:
        """The units that are the fewest for their steps in some dimension, and all there are."""
        n = np.array([self.problem.layer.extents[d] for d in dims])[:, None]
        every = np.array(units)
        fewest = (-(-n // -(-n // every)) == every).any(axis=0)
        fewest[[0, -1]] = True
        found: list[int] = every[fewest].tolist()
        return found

    def begin(self) -> NDArray[Any]:
        """``()`` record `seen_records.StateRow`: no choice made, what has one choice stands."""
        row = np.zeros((), StateRow)
        row["dims"], row["units"], row["orders"] = -1, 1, np.arange(len(DIMS))
        for decision, held in zip(DECISIONS, self.choices, strict=True):
            if decision.kind == "tile" and held:
                row["tiles"][decision.number, decision.dim] = held[0]
            elif decision.kind == "parallel" and len(held) == 1:
                row["dims"][decision.number] = held[0]
            elif decision.kind == "units" and len(held) == 1:
                row["units"][decision.number] = held[0]
                if not self.deep:  # clusters follow from their size
                    row["units"][0] = self.problem.accelerator.num_pes // held[0]
        return row

    def mappings(self, rows: NDArray[Any]) -> Mappings:
        """`B` mappings of ``(B,)`` records in which all is chosen."""
        if not self.deep:
            return MappingBatch(
                rows["orders"][:, 1::-1].astype(np.int8),
                rows["dims"][:, :2].astype(np.int8),
                rows["tiles"][:, 1::-1].astype(np.int32),
                rows["units"][:, 1].astype(np.int32),
                None,
            )
        like, size = self._like, len(rows)
        tiles = np.zeros((size, *like.tiles.shape[1:]), np.int32)
        orders = np.tile(np.arange(len(DIMS), dtype=np.int8), (*tiles.shape[:2], 1))
        dims = np.full((size, len(like.slots)), -1, np.int8)
        units = np.ones(dims.shape, np.int32)
        tiles[:, self._entries] = rows["tiles"][:, : len(self.memories)]
        orders[:, self._entries] = rows["orders"][:, : len(self.memories)]
        dims[:, self._slots] = rows["dims"][:, : len(self.spreads)]
        units[:, self._slots] = rows["units"][:, : len(self.spreads)]
        keeps = None if like.keeps is None else np.repeat(self._keeps[None], size, axis=0)
        return ChainBatch(like.levels, like.slots, tiles, orders, dims, units, keeps)

    def rows(self, given: Any) -> NDArray[Any]:
        """``(B,)`` records of the choices that lead to mappings of the problem's space."""
        rows = np.repeat(self.begin()[None], len(given), axis=0)
        if not self.deep:
            rows["dims"][:, :2], rows["units"][:, 1] = given.parallel, given.cluster_size
            rows["units"][:, 0] = self.problem.accelerator.num_pes // given.cluster_size
            rows["tiles"][:, 1::-1], rows["orders"][:, 1::-1] = given.tiles, given.orders
            return rows
        rows["tiles"][:, : len(self.memories)] = given.tiles[:, self._entries]
        rows["orders"][:, : len(self.memories)] = given.orders[:, self._entries]
        rows["dims"][:, : len(self.spreads)] = given.dims[:, self._slots]
        rows["units"][:, : len(self.spreads)] = given.units[:, self._slots]
        return rows

    @cached_property
    def _like(self) -> ChainBatch:
        """A mapping of the space, for what all have in common."""
        space = self.problem.space
        like: ChainBatch = space.decode(np.zeros((1, len(space.nvec)), np.int64))
        return like

    @cached_property
    def _entries(self) -> IntArray:
        """The first entry of each memory."""
        return np.array([self._like.levels.index(name) for name in self.memories])

    @cached_property
    def _slots(self) -> IntArray:
        """The place of each spread among those of the mappings: the first one of its axis."""
        named = [f"{self._like.levels[slot.entry]}.axis{slot.axis}" for slot in self._like.slots]
        return np.array([named.index(name) for name in self.spreads], np.int64)

    @property
    def _keeps(self) -> NDArray[np.bool_]:
        """``(E, 3)``: the first entry of a memory keeps all that it holds."""
        kept = np.zeros((len(self._like.levels), 3), np.bool_)
        for entry, name in zip(self._entries, self.memories, strict=True):
            kept[entry] = self.chain.levels[self.chain.position(name)].holds
        return kept


def _numbers(choices: Sequence[int | str]) -> list[int]:
    if isinstance(choices[0], int):  # as all of them are, then
        return list(cast(Sequence[int], choices))
    return [DIMS.index(str(c)) if len(str(c)) == 1 else -1 for c in choices]
