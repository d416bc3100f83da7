"""What exports cost by the rules of ZigZag and AccelForge, and by the exact model, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from math import ceil, prod

import numpy as np

from benchmarks.export_cases import Case
from benchmarks.export_rules import (
    Stay,
    accelforge_counts,
    accelforge_stays,
    bits_of,
    elements,
    exchanges,
    zigzag_stays,
)
from cost_models import Cost
from layers import TENSORS
from mapper.export.chip_stores import ChipStore, ChipStores
from mapper.export.loop_nest import MAC, LoopNest
from mapper.export.zigzag_files import NAME, feeds_macs, port_bits, temporal_loops

Part = tuple[str, str]
"""A memory and a tensor."""


def zigzag_words(case: Case, part: Part, way: str) -> list[float]:
    """Bits of a tensor that pass a memory, a term for each boundary, by ZigZag's rules.

    Where partial sums come back at all, they do so the first time too, when they are zero. Units
    share rows of an input as if each worked on one row, whatever its tile.
    """
    memory, tensor = part
    widths, nest = case.nest.chip.widths, case.nest
    width = widths.input if tensor == "input" else widths.filter
    found: list[float] = []
    stays = zigzag_stays(nest, tensor)

    def below(stay: Stay) -> int:
        units = {d: n // stay.units[d] for d, n in stays[-1].units.items()}
        return elements(nest, tensor, units, box=False)

    for move in exchanges(nest, tensor, stays, apart=False):
        readers = move.inside.steps * prod(move.outside.units.values())
        passed = elements(nest, tensor, move.inside.tile, box=False) * readers
        passed *= round(below(move.outside) / below(move.inside))
        inner, outer = move.inside.memory == memory, move.outside.memory == memory
        if tensor != "output":
            found += [passed * width] * (outer and way == "read")
            found += [move.filled * width] * (inner and way == "write")
            continue
        back = move.passed > prod(nest.extents[dim] for dim in nest.depends(2))
        up, down = widths.psum if back else widths.output, widths.psum * back
        found += [passed * (up if way == "write" else down)] * outer
        found += [move.filled * (up if way == "read" else down)] * inner
    return found


def exact_energies(case: Case, cost: Cost) -> dict[Part, float]:
    """What each tensor costs in each memory by the exact model [pJ].

    That of outputs, whose width changes, is the rest of the memory's.
    """
    found: dict[Part, float] = {}
    for store in ChipStores(case.nest).all:
        found.setdefault((store.level, "output"), 1000 * cost.levels[store.level].energy_nj)
        accesses = cost.levels[store.level].accesses
        for place, tensor in enumerate(TENSORS[:2]):
            if tensor in store.tensors:
                ways = accesses[tensor]
                price = ways["read"] * store.read_pj + ways["write"] * store.write_pj
                part = price * case.nest.chip.widths[place] / 8
                found[store.level, tensor] = part
                found[store.level, "output"] -= part
    return found


def zigzag_energies(case: Case) -> dict[Part, float]:
    """The same by ZigZag's rules: whole accesses of a port [pJ]."""
    nest, stores, found = case.nest, ChipStores(case.nest), Counter[Part]()
    for store in stores.all:
        prices = (store.read_pj, store.write_pj)
        ways = zip(("read", "write"), prices, port_bits(nest, stores, store), strict=True)
        for way, price, width in ways:
            for tensor in store.tensors:
                words = zigzag_words(case, (store.level, tensor), way)
                found[store.level, tensor] += sum(w // width * width / 8 * price for w in words)
    return found


def accelforge_energies(case: Case) -> dict[Part, float]:
    """The same by AccelForge's: every output has the width of partial sums [pJ]."""
    counts, bits, found = accelforge_counts(case.nest), bits_of(case.nest), Counter[Part]()
    for store in ChipStores(case.nest).all:
        for tensor in store.tensors:
            for way, price in (("read", store.read_pj), ("write", store.write_pj)):
                n = counts[store.level, tensor, way]
                found[store.level, tensor] += n * bits[tensor] / 8 * price
    return found


def accelforge_cycles(case: Case) -> float:
    """Cycles by AccelForge's rules: the slowest of the MACs and of memories.

    A memory's reads and writes take turns, those from outside included.
    """
    nest, counts, bits = case.nest, accelforge_counts(case.nest), bits_of(case.nest)
    units = prod(spread.units or 1 for loops in nest.levels for spread in loops.spreads)
    slowest = prod(nest.extents.values()) / units / nest.chip.lanes
    for store in ChipStores(nest).all:
        cycles = 0.0
        for tensor in store.tensors:
            stay = next(s for s in accelforge_stays(nest, tensor) if s.memory == store.level)
            for way, rate in (("read", store.read_bits), ("write", store.write_bits)):
                n = counts[store.level, tensor, way] * bits[tensor]
                cycles += n / prod(stay.units.values()) / rate
        slowest = max(slowest, cycles)
    return slowest


WINDOWED = ("OY", "OX", "FY", "FX")
"""Dimensions that share an axis of the input: ZigZag calls them partly relevant."""
ORDER = ("output", "filter", "input")


@dataclass(frozen=True)
class Transfer:
    """How one tensor passes a port: so many times, so many cycles each.

    Args:
        tensor: The tensor.
        times: Transfers.
        cycles: Of one.
        period: Cycles between two of them.
        allowed: Cycles of a period in which it may move.
    """

    tensor: str
    times: int
    cycles: int
    period: int
    allowed: int


def top_steps(nest: LoopNest, tensor: str, place: int) -> tuple[int, int]:
    """Steps of the outermost loops of a memory's tile that move it, and of those that do not.

    Args:
        nest: The mapping.
        tensor: The tensor.
        place: Which of the memories that keep it, from the MACs outwards.
    """
    parts = temporal_loops(nest, tensor)
    moving = {NAME[dim] for dim in nest.depends(TENSORS.index(tensor))}
    above = (loop for part in parts[place + 1 :] for loop in part)
    loops = [*parts[place], *takewhile(lambda loop: loop[0] not in moving, above)]
    whole = moving - {*WINDOWED} if tensor == "input" else moving
    found = [1, 1]
    for at, wanted in enumerate((lambda d: d in whole, lambda d: d not in moving)):
        for _, steps in takewhile(lambda loop, wanted=wanted: wanted(loop[0]), reversed(loops)):
            found[at] *= steps
    return found[0], found[1]


def held_twice(nest: LoopNest, store: ChipStore) -> dict[str, bool]:
    """Whether a memory has room for a tensor's next tile beside what it holds."""
    shares, bits = {}, bits_of(nest)
    for tensor in ORDER:
        if tensor in store.tensors:
            memories = [stay.memory for stay in zigzag_stays(nest, tensor)[-2::-1]]
            place = memories.index(store.level)
            tile = zigzag_stays(nest, tensor)[-2 - place].tile
            held = elements(nest, tensor, tile, box=True) * bits[tensor]
            shares[tensor] = held // top_steps(nest, tensor, place)[0] / (8 * store.size)
    used, found = sum(shares.values()), {}
    for tensor, share in shares.items():
        found[tensor] = used <= 0.5 or share <= 1 - used
        if used > 0.5 and found[tensor]:
            used += share
    return found


def window(nest: LoopNest, stores: ChipStores, tensor: str, place: int, period: int) -> int:
    """Cycles of a period in which the next tile may come into a memory; -1 are the MACs."""
    if place < 0:
        return period
    level = zigzag_stays(nest, tensor)[-2 - place].memory
    holds = next(store for store in stores.at(level) if tensor in store.tensors)
    if held_twice(nest, holds)[tensor]:
        return period
    return period // top_steps(nest, tensor, place)[1]


def union_of_windows(found: list[Transfer], total: int) -> int:
    """Cycles in which one at least of several transfers of a port may move."""
    if any(t.allowed == t.period for t in found):
        return total
    longest = max(found, key=lambda t: t.period)
    open_ = np.zeros(longest.period, np.bool_)
    for t in found:
        open_.reshape(-1, t.period)[:, : t.allowed] = True
    return int(open_.sum()) * longest.times


def moves(case: Case, stores: ChipStores, store: ChipStore, way: str) -> Iterator[Transfer]:
    """What passes the inner port of a memory in a direction: reads, or sums that come out."""
    nest = case.nest
    width = port_bits(nest, stores, store)[way == "write"]
    total = prod(n for part in temporal_loops(nest) for _, n in part)
    for tensor in store.tensors:
        stays = zigzag_stays(nest, tensor)
        for at, move in enumerate(exchanges(nest, tensor, stays, apart=False)):
            if move.outside.memory != store.level or (way == "write" and tensor != "output"):
                continue
            if move.inside.memory == MAC and feeds_macs(stores, store):
                continue
            bits = zigzag_words(case, (store.level, tensor), way)[-1]
            if bits:
                times, period = move.inside.steps, total // move.inside.steps
                cycles = ceil(bits / prod(move.outside.units.values()) / times / width)
                allowed = window(nest, stores, tensor, len(stays) - 3 - at, period)
                yield Transfer(tensor, times, cycles, period, allowed)


def stalls(found: list[Transfer], total: int) -> int:
    """Cycles for which a port holds up the array."""
    late = sum(max(0, t.cycles - t.allowed) * (t.times - 1) for t in found)
    if len(found) < 2:
        return late
    early = sum(min(0, t.cycles - t.allowed) * (t.times - 1) for t in found)
    windows = sum(t.allowed * (t.times - 1) for t in found)
    return late + max(0, early + windows - union_of_windows(found, total))


def zigzag_cycles(case: Case, *, waits: bool = True) -> float:
    """Cycles by ZigZag's rules: compute, the slowest port's stalls, first fills, last drains.

    Args:
        case: The mapping.
        waits: Whether a tile that a memory cannot hold twice is waited for.
    """
    nest, stores = case.nest, ChipStores(case.nest)
    total = prod(steps for part in temporal_loops(nest) for _, steps in part)
    worst, ends = 0, 0
    for store in stores.all:
        for way in ("read", "write"):
            found = list(moves(case, stores, store, way))
            if not waits:
                found = [replace(move, allowed=move.period) for move in found]
            worst = max(worst, stalls(found, total))
            ends += sum(t.cycles for t in found if (t.tensor == "output") == (way == "write"))
    return total + worst + ends
