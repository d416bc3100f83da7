"""What parts of FSRCNN's layers cost on DeFiNES' chip.

A tensor between two layers lives in Local, Global or DRAM. A part of a layer in a fused tile is a
layer whose input comes from one of them, whose output goes to one of them, and whose filter is in
Filters. It is mapped on what of the chip lies below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import cost_models
from cost_models import Chain, ChainMapping, Entry, Spread
from cost_models.chain.chip import ChainLevel
from layers import DIMS, Layer
from layers.graph_builder import GraphBuilder
from mapper.fusing.fused_group import FusedGroup, groups_of

CHIP = Chain.load(Path(__file__).with_name("meta_prototype.yaml"))
LEVELS = ("Local", "Global", "DRAM")
"""Where a tensor may live, from the MACs on."""
SHAPES = (("1 1 1", 554, 974), ("56 1 5", 550, 970), ("12 56 1", 550, 970),
          ("12 12 3", 548, 968), ("12 12 3", 546, 966), ("12 12 3", 544, 964),
          ("12 12 3", 542, 962), ("56 12 1", 542, 962), ("16 56 3", 540, 960))  # fmt: skip
"""Filters, channels and taps of each layer, and its output rows and columns; nothing is padded. The
first one is none of FSRCNN's: it stands for bringing in the input."""
STREAM = 4096
"""Bytes of a level, at least, for tiles of what passes through it."""
UNITS = {"K": 32, "X": 4, "Y": 4, "C": 2}
"""What DeFiNES unrolls."""
MODEL = cost_models.load("exact", resident="filter")


FILTERS = ("DRAM", "Filters")
"""The way of all filters, once."""


class Homes(NamedTuple):
    """The level from which a part's input comes, and the one to which its output goes."""

    read: str
    written: str

    def rooms(self, left: tuple[int, int]) -> tuple[int, int]:
        """Bytes of Local and of Global for what passes through; 0 where nothing does."""
        local, shared = (room * some for room, some in zip(left, self.passes, strict=True))
        return local, shared

    @property
    def passes(self) -> tuple[bool, bool]:
        """Whether something passes through Local, and through Global."""
        return {*self} != {"Local"}, "DRAM" in self


@cache
def fsrcnn() -> FusedGroup:
    """All of its layers as one group, behind one that copies the input as it is."""
    nodes = GraphBuilder()
    at = nodes.source("x", (1, 1, 554, 974))
    for number, (sizes, rows, columns) in enumerate(SHAPES):
        filters, channels, taps = map(int, sizes.split())
        shape = (filters, channels, rows + taps - 1, columns + taps - 1, taps, taps)
        at = nodes.mac(Layer(f"l{number}", "CONV", *shape), at)
    one_capacity = cost_models.load_chip("edge")  # on CHIP parts live in several levels
    return groups_of(nodes.graph(), one_capacity, longest=len(SHAPES))[0][-1]


def filter_bytes() -> int:
    """What all filters take."""
    return sum(layer.filter_size for layer in fsrcnn().layers[1:])


@dataclass(frozen=True)
class PartCost:
    """Energy by level [pJ], and cycles."""

    energy: Mapping[str, float]
    cycles: float

    @property
    def total(self) -> float:
        """Energy [pJ]."""
        return math.fsum(self.energy.values())


@cache
def part_cost(layer: Layer, homes: Homes, room: tuple[int, int]) -> PartCost:
    """The cost of the least of a part's `mappings`.

    Args:
        layer: The part.
        homes: Where its input and its output live.
        room: Bytes of Local and of Global that other tensors leave.
    """
    chip = part_chip(layer, homes, room)
    found = (priced(layer, chip, homes, one) for one in mappings(layer, chip, homes))
    return min((one for one in found if one is not None), key=lambda one: one.total)


def priced(layer: Layer, chip: Chain, homes: Homes, mapping: ChainMapping) -> PartCost | None:
    """What a mapping costs, below and at its homes; None where a level has no room."""
    cost = MODEL.evaluate(layer, chip, mapping)
    if cost.infeasible is not None:
        return None
    found = Counter({name: 1e3 * one.energy_nj for name, one in cost.levels.items()})
    store = cost.levels["DRAM"].accesses
    assert store["output"]["read"] == 0  # no sums leave before they are finished
    found["DRAM"], found["MACs"] = 0.0, 1e3 * cost.detail["energy_mac_nj"]
    for home, tensor, way in zip(homes, ("input", "output"), ("read", "write"), strict=True):
        if home == "Local":  # it lies there already, or stays there
            size = getattr(layer, f"{tensor}_size")
            found["Local"] -= size * price("Local", "write" if way == "read" else "read")
        else:
            found[home] += store[tensor][way] * price(home, way)
    return PartCost(found, cost.latency_cycles)


def mappings(layer: Layer, chip: Chain, homes: Homes) -> Iterator[ChainMapping]:
    """DeFiNES' unrolling, with sums that stay in their registers until they are finished.

    What passes through Local does so in tiles of all channels, of several widths and as high as
    there is room, row by row of tiles or column by column. What passes through Global does so in
    tiles of all columns.
    """
    extents = dict(zip(DIMS, layer.extents, strict=True))
    steps = -(-extents["K"] // UNITS["K"])
    units = {"K": -(-extents["K"] // steps)} | {d: min(extents[d], UNITS[d]) for d in "XYC"}
    spread = tuple(Spread(d, units[d], axis) for axis, d in enumerate("KXY"))
    whole = {d: extents[d] for d in "KCYX"}
    outer, rows = [Entry("Filters", whole)], extents["Y"]
    levels = {level.name: level for level in chip.levels}
    if "Global" in levels:
        passing = _Passing(layer, *(home == "DRAM" for home in homes))
        rows = passing.rows(extents["X"], levels["Global"].shared_bytes or 0)
        outer.append(Entry("Global", whole | {"Y": rows}, "YKCXRSNG"))
    passing = _Passing(layer, *(home != "Local" for home in homes))
    widths = {min(extents["X"], 4 << n) for n in range(9)}
    for width in sorted(widths):
        high = min(rows, passing.rows(width, levels["Local"].shared_bytes or 0))
        for order in ("YXKCRSNG", "XYKCRSNG"):
            yield ChainMapping((
                *outer,
                Entry("Local", whole | {"Y": high, "X": width}, order, spread),
                Entry("Sums", {"K": 1, "C": extents["C"], "Y": 1, "X": 1}, "YXKCRSNG",
                      (Spread("C", units["C"], 0),)),
            ))  # fmt: skip


class _Passing(NamedTuple):
    """Which of a part's input and output pass through a level."""

    layer: Layer
    input: bool
    output: bool

    def rows(self, width: int, room: int) -> int:
        """Most output rows of a tile, a multiple of the rows that are unrolled or all."""
        layer = self.layer
        line = layer.C * (width + layer.S - 1) * self.input
        each = line + layer.K * width * self.output
        most = layer.out_y if each == 0 else (room - line * (layer.R - 1)) // each
        return layer.out_y if most >= layer.out_y else max(1, most // UNITS["Y"] * UNITS["Y"])


def level_of(name: str) -> ChainLevel:
    """A level of the whole chip."""
    return next(one for one in CHIP.levels if one.name == name)


BYTES = {name: level_of(name).shared_bytes or 0 for name in LEVELS[:2]}
"""What Local and Global hold."""


def price(level: str, way: str) -> float:
    """Energy of a byte [pJ]."""
    return float(getattr(level_of(level), f"{way}_pj"))


def carry(found: Counter[str], path: Sequence[str], size: int) -> float:
    """Add the energy of carrying so many bytes from level to level; the cycles it takes."""
    for before, after in pairwise(path):
        found[before] += size * price(before, "read")
        found[after] += size * price(after, "write")
    slowest = min(level_of(name).read_bw or math.inf for name in path)
    return 8 * size / slowest if len(path) > 1 else 0.0


def part_chip(layer: Layer, homes: Homes, rooms: tuple[int, int]) -> Chain:
    """What of the chip is below a part's homes, which stand in DRAM's place."""
    dram, filters, *inner = CHIP.levels
    prices = [
        0.0 if home == "Local" else price(home, way)
        for home, way in zip(homes, ("read", "write"), strict=True)
    ]
    rates = [None if home == "Local" else level_of(home).read_bw for home in homes]
    both = homes == ("DRAM", "DRAM")
    store = replace(
        dram, read_pj=prices[0], write_pj=prices[1],
        read_bw=rates[0], write_bw=None if both else rates[1], shared_bw=both,
    )  # fmt: skip
    levels = [store, filters]
    for level in inner:
        if level.name == "Global" and "DRAM" in homes:
            levels.append(_middle(level, layer, homes, ("DRAM",), rooms[1]))
        elif level.name == "Local":
            levels.append(_middle(level, layer, homes, LEVELS, rooms[0]))
        elif level.name != "Global":
            levels.append(level)
    return replace(CHIP, levels=tuple(levels))


def _middle(
    level: ChainLevel, layer: Layer, homes: Homes, held: Sequence[str], room: int
) -> ChainLevel:
    """A level with room for what lives in it, and what is left for what passes through."""
    here = tuple(home in held for home in homes)
    own = tuple(
        size if home == level.name and home in held else None
        for home, size in zip(homes, (layer.input_size, layer.output_size), strict=True)
    )
    return replace(
        level,
        holds=(here[0], False, here[1]),
        tensor_bytes=(own[0], None, own[1]),
        shared_bytes=room if (True, None) in zip(here, own, strict=True) else None,
    )
