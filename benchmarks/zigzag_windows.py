"""When ZigZag lets a tile move: while the tile before it is in use, if a memory can hold both.

Rules of zigzag-dse 3.9.1: `calc_double_buffer_flag` and `calculate_allowed_transfer_cycles` of its
cost model. A memory that cannot hold a tile twice takes the next one only in the last of the steps
that do not move it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from layers import TENSORS
from mapper.export.chip_stores import ChipStore, stores_of
from mapper.export.loop_factors import LoopFactors
from mapper.export.zigzag_files import NAME, temporal_loops

WINDOWED = ("OY", "OX", "FY", "FX")
"""Dimensions that share an axis of the input: ZigZag calls them partly relevant."""
ORDER = ("output", "filter", "input")


@dataclass(frozen=True)
class Transfer:
    """How one tensor passes a port: so many times, so many cycles each.

    Args:
        times: Transfers.
        cycles: Of one.
        period: Cycles between two of them.
        allowed: Cycles of a period in which it may move.
    """

    times: int
    cycles: int
    period: int
    allowed: int


def moving_dims(nest: LoopFactors, tensor: str) -> set[str]:
    """Dimensions whose loops move a tensor, in ZigZag's names."""
    return {NAME[dim] for dim in nest.depends(TENSORS.index(tensor))}


def steps_kept(nest: LoopFactors, level: str, tensor: str) -> int:
    """Loops just outside of a level that leave a tensor where it is: how many."""
    parts = temporal_loops(nest)
    above = parts["DRAM"] if level == "L2" else parts["L2"] + parts["DRAM"]
    moving, kept = moving_dims(nest, tensor), 0
    while kept < len(above) and above[kept][0] not in moving:
        kept += 1
    return kept


def top_steps(nest: LoopFactors, level: str, tensor: str) -> tuple[int, int]:
    """Steps of the outermost loops of a level's tile that move it, and of those that do not."""
    parts = temporal_loops(nest)
    above = parts["DRAM"] if level == "L2" else parts["L2"] + parts["DRAM"]
    loops = parts[level] + above[: steps_kept(nest, level, tensor)]
    moving = moving_dims(nest, tensor)
    whole = moving - {*WINDOWED} if tensor == "input" else moving
    found = [1, 1]
    for place, wanted in enumerate((lambda d: d in whole, lambda d: d not in moving)):
        for dim, steps in reversed(loops):
            if not wanted(dim):
                break
            found[place] *= steps
    return found[0], found[1]


def tile_bits(nest: LoopFactors, level: str, tensor: str) -> int:
    """Bits of a tensor's tile in a memory of a level."""
    layer, widths = nest.layer, nest.chip.widths
    extents = {
        dim: bounds.tile if level == "L1" else bounds.tile * bounds.pes * bounds.inner
        * bounds.clusters
        for dim, bounds in nest.bounds.items()
    }  # fmt: skip
    size = {dim: extents.get(dim, 1) for dim in "KCYXRSNG"}
    if tensor == "filter":
        return widths.filter * prod(size[dim] for dim in "KCRSG")
    if tensor == "output":
        return widths.psum * prod(size[dim] for dim in "KYXNG")
    rows = (size["Y"] - 1) * layer.stride + (size["R"] - 1) * layer.dilation + 1
    columns = (size["X"] - 1) * layer.stride + (size["S"] - 1) * layer.dilation + 1
    return widths.input * prod(size[dim] for dim in "CNG") * rows * columns


def held_twice(nest: LoopFactors, store: ChipStore) -> dict[str, bool]:
    """Whether a memory has room for a tensor's next tile beside what it holds."""
    shares = {
        tensor: tile_bits(nest, store.level, tensor)
        // top_steps(nest, store.level, tensor)[0]
        / (8 * store.size)
        for tensor in ORDER
        if tensor in store.tensors
    }
    used, found = sum(shares.values()), {}
    for tensor, share in shares.items():
        found[tensor] = used <= 0.5 or share <= 1 - used
        if used > 0.5 and found[tensor]:
            used += share
    return found


def window(nest: LoopFactors, level: str, tensor: str, period: int) -> int:
    """Cycles of a period in which the next tile may come into a level."""
    holds = next(s for s in stores_of(nest) if s.level == level and tensor in s.tensors)
    if held_twice(nest, holds)[tensor]:
        return period
    return period // top_steps(nest, level, tensor)[1]


def union_of_windows(found: list[Transfer], total: int) -> int:
    """Cycles in which one at least of several transfers of a port may move."""
    if any(t.allowed == t.period for t in found):
        return total
    longest = max(found, key=lambda t: t.period)
    open_ = np.zeros(longest.period, np.bool_)
    for t in found:
        open_.reshape(-1, t.period)[:, : t.allowed] = True
    return int(open_.sum()) * longest.times
