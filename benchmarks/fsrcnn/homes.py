"""Tensors between FSRCNN's layers, each in one level for all fused tiles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

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
    price,
)
from mapper.fusing.axis_plan import axis_plan
from mapper.fusing.fused_group import FusedTiling


@dataclass(frozen=True)
class Rules:
    """What is asked of a tiling.

    Args:
        levels: Where a tensor between two layers may live; each in the level that moves it for
            least, or in the one level if there is one.
        copied: Whether the group's input is brought in once and lives in a level, too, with its
            halos; else each tile reads from DRAM what it needs.
    """

    levels: tuple[str, ...] = ("Global",)
    copied: bool = False


class FusedCase:
    """A way to cut the group, under some rules.

    Args:
        tile: Rows and columns of the last layer's output in a fused tile.
        keep: Whether halos are kept, along rows and along columns.
        rules: The rules.
    """

    def __init__(self, tile: tuple[int, int], keep: tuple[bool, bool], rules: Rules) -> None:
        self.group, self.rules = fsrcnn(), rules
        rows, columns = (
            axis_plan(axis, size, kept)
            for axis, size, kept in zip((self.group.rows, self.group.columns), tile, keep,
                                        strict=True)
        )  # fmt: skip
        self.tiling = FusedTiling(rows, columns, frozenset())
        count = len(self.group.layers)
        self.parts = [list(self.tiling.parts(self.group, place)) for place in range(count)]
        self.windows = [
            [bits // 8 for bits in self.group.window_bits(tensor, rows, columns)]
            for tensor in range(count - 1)
        ]

    def room(self, homes: Sequence[str], place: int) -> tuple[int, int]:
        """Bytes of Local and of Global that tensors leave while a layer runs."""
        left = dict(BYTES)
        for tensor, home in enumerate(homes[:-1]):
            if home != "DRAM":
                left[home] -= self.windows[tensor][0 if tensor in (place - 1, place) else 1]
        return left["Local"], left["Global"]

    def fits(self, homes: Sequence[str]) -> bool:
        """Whether levels have room for what lives in them, and for what passes through."""
        for place in range(1, len(homes)):
            passes = Homes(*homes[place - 1 : place + 1]).passes
            if any(
                room < STREAM * some
                for room, some in zip(self.room(homes, place), passes, strict=True)
            ):
                return False
        return True

    def moved(self, tensor: int) -> tuple[int, int]:
        """Elements of a tensor that are written, and that are read, in all tiles."""
        written = sum(times * part.output_size for part, times in self.parts[tensor])
        return written, sum(times * part.input_size for part, times in self.parts[tensor + 1])

    @cached_property
    def homes(self) -> tuple[str, ...] | None:
        """Where the input and each layer's output live; None where the one level has no room."""
        tensors = range(len(self.group.layers) - 1)
        prices = {"Local": (0.0, 0.0)}
        for name, below in (("Global", "Local"), ("DRAM", "Global")):
            ways = price(name, "write") + price(below, "read"), price(name, "read")
            ways = ways[0], ways[1] + price(below, "write")
            prices[name] = prices[below][0] + ways[0], prices[below][1] + ways[1]
        moves = [self.moved(tensor) for tensor in tensors]

        def cost(homes: tuple[str, ...]) -> float:
            return math.fsum(
                amount * price
                for home, both in zip(homes, moves, strict=False)
                for amount, price in zip(both, prices[home], strict=True)
            )

        first = self.rules.levels if self.rules.copied else ("DRAM",)
        some = (
            (*homes, "DRAM") for homes in product(first, *[self.rules.levels] * (len(tensors) - 1))
        )
        return min((one for one in some if self.fits(one)), key=cost, default=None)

    def cost(self) -> PartCost | None:
        """All tiles together; None where the one level has no room."""
        homes = self.homes
        if homes is None:
            return None
        found: Counter[str] = Counter()
        cycles = 0.0
        for place in range(1, len(homes)):
            ends = Homes(*homes[place - 1 : place + 1])
            room = ends.rooms(self.room(homes, place))
            for part, times in self.parts[place]:
                one = part_cost(part.renamed(""), ends, room)
                found.update({name: times * energy for name, energy in one.energy.items()})
                cycles += times * one.cycles
        cycles += carry(found, FILTERS, filter_bytes())
        if homes[0] != "DRAM":  # the input is brought there before it is used
            path = LEVELS[LEVELS.index(homes[0]) :][::-1]
            cycles += carry(found, path, self.moved(0)[0])
        return PartCost(found, cycles)
