"""How ZigZag and AccelForge count the elements of a mapping of whole factors, to the element.

Where a tensor lies it is brought a number of times, each time as a tile for each unit. The tools
part from the exact model, and from each other, in four rules:

- `INSIDE` (ZigZag 3.9.1): fan-outs lie below all loops in time, so that units of one level that
  share rows of an input stand side by side, whatever loops lie between them.
- `ONCE` (ZigZag): of an output all partial sums but one are read back, although units that start
  on a share of its terms have nothing to read at first.
- `ANEW` (AccelForge 1.0.467): a tile is brought in every step of the loops above its storage, also
  where the last of them, at levels outside, leave it as it is; units share no rows of an input, and
  an input's tile is the box around what it touches.
- `EACH` (AccelForge): a partial sum goes back to each unit that works on a share of its terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from layers import DIMS, TENSORS, Layer, footprint
from mapper.export.accelforge_files import (
    ARRAYS,
    EINSUM,
    RANK,
    ForgeSpatialLoop,
    ForgeStorage,
    ForgeTemporal,
    mapping_nodes,
)
from mapper.export.chip_stores import ChipStores
from mapper.export.loop_nest import MAC, LoopNest

INSIDE = "ZigZag: fan-outs lie below all loops in time, where units share other rows"
ONCE = "ZigZag: all partial sums of an output but one are read back"
ANEW = "AccelForge: a tile is brought anew in every step of the loops above its storage"
EACH = "AccelForge: a partial sum goes back to each unit that adds to it"
Node = dict[str, Any]
"""A part of what a tool reads or says, by name."""
Counts = dict[tuple[str, str, str], int]
"""Elements by memory, tensor and ``read`` or ``write``."""
Sizes = dict[str, int]


class Stay(NamedTuple):
    """A tensor in a memory.

    Args:
        memory: The memory's level; `MAC` for the MACs.
        steps: How often its tile is brought.
        units: Instances by the dimension along which they lie.
        tile: What one instance works on.
    """

    memory: str
    steps: int
    units: Sizes
    tile: Sizes


class Exchange(NamedTuple):
    """What moves between a memory and the next one inside that keeps a tensor.

    Args:
        outside: The memory.
        inside: Where it is kept inside.
        passed: Elements that leave the memory (of outputs: that come back to it).
        filled: Elements that all instances inside take (of outputs: give).
    """

    outside: Stay
    inside: Stay
    passed: int
    filled: int


def bits_of(nest: LoopNest) -> dict[str, int]:
    """Bits of an element of each tensor, of outputs those of a partial sum."""
    widths = nest.chip.widths
    return {"input": widths.input, "filter": widths.filter, "output": widths.psum}


def elements(nest: LoopNest, tensor: str, tile: Sizes, box: bool) -> int:
    """Elements of a tensor that a tile touches."""
    dims = set(nest.depends(TENSORS.index(tensor)))
    layer, total = nest.layer, 1
    if tensor == "input":
        total = _rows(layer, tile, "Y", "R", box) * _rows(layer, tile, "X", "S", box)
        dims -= {*"YXRS"}
    return total * prod(tile[d] for d in dims)


def _rows(layer: Layer, tile: Sizes, place: str, taps: str, box: bool) -> int:
    stride, dilation = (
        (layer.stride_y, layer.dilation_y) if place == "Y" else (layer.stride_x, layer.dilation_x)
    )
    if box:
        return stride * (tile[place] - 1) + dilation * (tile[taps] - 1) + 1
    return footprint(tile[place], tile[taps], stride, dilation)


def exchanges(
    nest: LoopNest, tensor: str, stays: list[Stay], *, apart: bool, box: bool = False
) -> list[Exchange]:
    """What moves between memories, outermost first.

    Args:
        nest: The mapping.
        tensor: The tensor.
        stays: Where it lies, the MACs last.
        apart: Whether units share no rows of an input, but whole tiles alone.
        box: Whether an input's tile is the box around what it touches.
    """
    depends = set(nest.depends(TENSORS.index(tensor)))
    found = []
    for outside, inside in pairwise(stays):
        fan = {d: inside.units[d] // outside.units[d] for d in DIMS}
        joined = inside.tile if apart else {d: n * fan[d] for d, n in inside.tile.items()}
        readers = prod(outside.units.values()) * (prod(fan[d] for d in depends) if apart else 1)
        passed = elements(nest, tensor, joined, box) * readers * inside.steps
        filled = elements(nest, tensor, inside.tile, box) * prod(inside.units.values())
        found.append(Exchange(outside, inside, passed, filled * inside.steps))
    return found


def zigzag_stays(nest: LoopNest, tensor: str) -> list[Stay]:
    """Where ZigZag keeps a tensor, and how often it is brought there."""
    depends = nest.depends(TENSORS.index(tensor))
    ones = dict.fromkeys(DIMS, 1)
    found = [Stay("DRAM", 1, ones, ones | dict(nest.extents))]
    units, above = dict(ones), list[tuple[str, int]]()
    for loops in nest.levels:
        above += loops.in_time
        for spread in loops.spreads:
            units[spread.dim] *= spread.units or 1
        if tensor in loops.keeps or loops.level == MAC:
            last = max((at for at, (dim, _) in enumerate(above, 1) if dim in depends), default=0)
            steps = prod(n for _, n in (above if loops.level == MAC else above[:last]))
            found.append(Stay(loops.level, steps, dict(units), ones | dict(loops.tile)))
    return found


def accelforge_stays(nest: LoopNest, tensor: str) -> list[Stay]:
    """Where the exported loop tree keeps a tensor, and how often it is brought there."""
    dims = {rank: dim for dim, rank in RANK.items()}
    ones = dict.fromkeys(DIMS, 1)
    rest, units, steps = ones | dict(nest.extents), dict(ones), 1
    levels = {store.name: store.level for store in ChipStores(nest).all}
    found = []
    for node in mapping_nodes(nest, ChipStores(nest)):
        if isinstance(node, ForgeStorage) and ARRAYS[tensor] in node.tensors:
            found.append(Stay(levels[node.component], steps, dict(units), dict(rest)))
        elif isinstance(node, ForgeTemporal | ForgeSpatialLoop):
            dim = dims[node.rank_variable]
            times, rest[dim] = rest[dim] // node.tile_shape, node.tile_shape
            if isinstance(node, ForgeTemporal):
                steps *= times
            else:
                units[dim] *= times
    return [*found, Stay(MAC, steps, units, ones)]


def zigzag_counts(nest: LoopNest) -> Counts:
    """Reads and writes as ZigZag counts them."""
    return _counts(nest, zigzag_stays, False, lambda outputs, stay: outputs)


def accelforge_counts(nest: LoopNest, resident: Collection[str] = ()) -> Counts:
    """Reads and writes as AccelForge counts them; nothing brings what is in L2 already there."""
    reduced = set(nest.extents) - set(nest.depends(TENSORS.index("output")))

    def first(outputs: int, stay: Stay) -> int:
        return outputs * prod(stay.units[d] for d in reduced)

    return _counts(nest, accelforge_stays, True, first, resident)


def accelforge_said(
    nest: LoopNest, said: Node, einsum: str = EINSUM, names: Mapping[str, str] = ARRAYS
) -> Counts:
    """Reads and writes that AccelForge says of an einsum, whose tensors it knows by some names."""
    return {
        (store.level, tensor, way): round(
            said["actions"].get(f"{einsum}/{store.name}/{names[tensor]}/{way}", 0.0) / bits
        )
        for store in ChipStores(nest).all
        for tensor, bits in bits_of(nest).items()
        if tensor in store.tensors
        for way in ("read", "write")
    }


def _counts(
    nest: LoopNest,
    stays: Callable[[LoopNest, str], list[Stay]],
    apart: bool,
    first: Callable[[int, Stay], int],
    resident: Collection[str] = (),
) -> Counts:
    """Counts of a tool; `first` is how many sums a memory's instances start from nothing."""
    found: Counts = Counter()
    outputs = elements(nest, "output", dict.fromkeys(DIMS, 1) | dict(nest.extents), False)
    for tensor in TENSORS:
        moves = exchanges(nest, tensor, stays(nest, tensor), apart=apart, box=apart)
        for move in moves[tensor in resident :]:
            way, other, back, again = "read", "write", 0, 0
            if tensor == "output":
                way, other, back = "write", "read", move.passed - first(outputs, move.outside)
                again = move.filled - first(outputs, move.inside) if apart else back
            for stay, to, n in (
                (move.outside, way, move.passed),
                (move.outside, other, back),
                (move.inside, other, move.filled),
                (move.inside, way, again),
            ):
                if stay.memory != MAC:
                    found[stay.memory, tensor, to] += n
    return found
