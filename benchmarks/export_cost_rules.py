"""What exports cost by the rules of ZigZag and AccelForge, and by the exact model, part by part."""

from __future__ import annotations

from collections import Counter
from math import prod

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
from mapper.export.chip_stores import ChipStores
from mapper.export.loop_nest import LoopNest
from mapper.export.zigzag_files import port_bits

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
        back = move.passed > outputs_of(nest)
        up, down = widths.psum if back else widths.output, widths.psum * back
        found += [passed * (up if way == "write" else down)] * outer
        found += [move.filled * (up if way == "read" else down)] * inner
    return found


def outputs_of(nest: LoopNest) -> int:
    """Outputs of the layer."""
    return prod(nest.extents[dim] for dim in nest.depends(2))


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
