"""Energy and cycles that ZigZag and AccelForge give to exports, beside the exact model's.

    pip install 'marl-mapper[dev]'
    python -m benchmarks export_costs [--levels 3] [--accelforge PYTHON] [--csv FILE.csv]

Every mapping is written by `mapper export`, and read and run by the tool itself. Where its energy
is more than 1 % off the exact model's, or its cycles more than 10 %, the figure is worked out again
by the tool's rules (`zigzag_energies`, `zigzag_cycles`, `accelforge_...`), which names the cause.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np

import layers
from benchmarks.export_counts import (
    CHIPS,
    COUNTED,
    TRIES,
    Case,
    accelforge_says,
    cause_of,
    chip_of,
    drawn,
    exact_counts,
    run_accelforge,
    write_table,
    zigzag_evaluated,
    zigzag_says,
)
from benchmarks.export_rules import (
    Counts,
    Stay,
    accelforge_counts,
    accelforge_stays,
    elements,
    exchanges,
    zigzag_stays,
)
from benchmarks.zigzag_windows import Transfer, union_of_windows, window
from cost_models import Accelerator, Cost, Mapping, clock_of
from layers import DIMS, TENSORS, Layer
from mapper.export.chip_stores import ChipStore, ChipStores
from mapper.export.loop_nest import MAC, LoopNest
from mapper.export.zigzag_files import feeds_macs, port_bits, temporal_loops

LAYERS = (
    "resnet18.conv2_1a", "mobilenetv2.2", "alexnet.1", "mlp.1", "bert_base.0", "mobilenetv2.1",
    "vgg16.5", "resnet18.6", "gpt2.0", "resnet50.3",
)  # fmt: skip
MORE = (
    "resnet18.3", "resnet18.10", "mobilenetv2.4", "mobilenetv2.7", "vgg16.2", "vgg16.8",
    "alexnet.3", "bert_base.2", "resnet50.6", "mlp.0",
)  # fmt: skip
"""Layers of chips of three levels besides."""
TWO = ("edge", "cloud", "archgym", "eyeriss", "gemmini-16", "nvdla-small")
ENERGY_WITHIN, CYCLES_WITHIN = 0.01, 0.10
DRAWS = (1, 30)
"""Every other mapping is the best of so many draws."""
RULES_WITHIN = 0.02
"""How near a tool's rules must come to its figure."""
Part = tuple[str, str]
"""A memory and a tensor."""

FIRST_SUMS = "ZigZag reads back partial sums the first time too, when they are zero"
DRAINS = "ZigZag charges the innermost memory for giving outputs away and taking them back"
WHOLE = "ZigZag counts whole accesses of a wide port"
LANES = "ZigZag has one MAC a PE and cycle"
OWN_PORTS = "in ZigZag, memories with a capacity of their own have a port of their own"
PAST = "in the tool, a tensor that passes a memory does not use its port"
WAITS = "ZigZag waits for a tile that a memory cannot hold twice"
ROUNDED = "in ZigZag, each tensor's transfer takes whole cycles and a full tile"
WIDTH = "in AccelForge, outputs have the width of partial sums"
TURNS = "in AccelForge, reads and writes of a memory take turns, those from outside included"
SLOWEST = "AccelForge takes the slowest of MACs and memories, over all steps together"


def divisors(n: int) -> list[int]:
    """What divides a number, smallest first."""
    return [k for k in range(1, n + 1) if n % k == 0]


def mapping_of_two(layer: Layer, rng: np.random.Generator, num_pes: int) -> Mapping:
    """A mapping of two levels whose tiles and units all divide."""
    coupled = [d for i, d in enumerate(DIMS) if any(row[i] for row in layer.coupling)]
    extents = dict(zip(DIMS, layer.extents, strict=True))
    outer_dim, inner_dim = rng.choice([d for d in coupled if extents[d] > 1], 2)
    pes = int(rng.choice([k for k in divisors(num_pes) if k <= extents[inner_dim]]))
    clusters = num_pes // pes
    outer, inner = {}, {}
    for dim in coupled:
        units = clusters if dim == outer_dim else 1
        fitting = [t for t in divisors(extents[dim]) if extents[dim] % (t * units) == 0]
        outer[dim] = int(rng.choice(fitting or [extents[dim]]))
        units = pes if dim == inner_dim else 1
        fitting = [t for t in divisors(outer[dim]) if outer[dim] % (t * units) == 0]
        inner[dim] = int(rng.choice(fitting or [outer[dim]]))
    orders = ["".join(rng.permutation(list("KCYXRS"))) for _ in range(2)]
    return Mapping((orders[0], orders[1]), (outer_dim, inner_dim), (outer, inner), pes)


def drawn_of_two(layer: Layer, chip: Accelerator, rng: np.random.Generator) -> Iterator[Case]:
    """Mappings of two levels that fit, of as many as `TRIES`."""
    for _ in range(TRIES):
        case = Case(layer, chip, mapping_of_two(layer, rng, chip.num_pes))
        if case.cost().feasible:
            yield case


def exports(count: int, seed: int, levels: int) -> Iterator[Case]:
    """Layers times chips, each with a mapping of whole factors that fits."""
    rng = np.random.default_rng(seed)
    names, some = ((*LAYERS, *MORE), [*CHIPS]) if levels == 3 else (LAYERS, TWO)
    for place in range(count):
        layer, name = layers.get(names[place % len(names)]), some[place // len(names) % len(some)]
        chosen: Iterator[Case] = (
            drawn(layer, chip_of(name), rng)
            if levels == 3
            else drawn_of_two(layer, Accelerator.load(name), rng)
        )
        found = list(islice(chosen, DRAWS[place % 2]))
        if found:
            costs = [case.cost() for case in found]
            edp = [cost.latency_cycles * cost.energy_nj for cost in costs]
            yield found[int(np.argmin(edp))]


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
    widths, counts, found = case.nest.chip.widths, accelforge_counts(case.nest), Counter[Part]()
    bits = {"input": widths.input, "filter": widths.filter, "output": widths.psum}
    for store in ChipStores(case.nest).all:
        for tensor in store.tensors:
            for way, price in (("read", store.read_pj), ("write", store.write_pj)):
                found[store.level, tensor] += (
                    counts[store.level, tensor, way] * bits[tensor] / 8 * price
                )
    return found


def accelforge_cycles(case: Case) -> float:
    """Cycles by AccelForge's rules: the slowest of the MACs and of memories.

    A memory's reads and writes take turns, those from outside included.
    """
    nest, counts = case.nest, accelforge_counts(case.nest)
    widths, stores = nest.chip.widths, ChipStores(nest)
    bits = {"input": widths.input, "filter": widths.filter, "output": widths.psum}
    units = prod(spread.units or 1 for loops in nest.levels for spread in loops.spreads)
    slowest = prod(nest.extents.values()) / units / nest.chip.lanes
    for store in stores.all:
        cycles = 0.0
        for tensor in store.tensors:
            stay = next(s for s in accelforge_stays(nest, tensor) if s.memory == store.level)
            for way, rate in (("read", store.read_bits), ("write", store.write_bits)):
                n = counts[store.level, tensor, way] * bits[tensor]
                cycles += n / prod(stay.units.values()) / rate
        slowest = max(slowest, cycles)
    return slowest


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
            bits = zigzag_words(case, (store.level, tensor), way)[-1] / prod(
                move.outside.units.values()
            )
            if bits:
                times, period = move.inside.steps, total // move.inside.steps
                place = len(stays) - 3 - at
                yield Transfer(
                    tensor,
                    times,
                    ceil(bits / times / width),
                    period,
                    window(nest, stores, tensor, place, period),
                )


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


def energy_cause(case: Case, tool: str, exact: dict[Part, float], rules: dict[Part, float]) -> str:
    """The rule that changes most."""
    memory, tensor = max(exact, key=lambda part: abs(rules[part] - exact[part]))
    if tool == "accelforge":
        widths, same = (
            case.nest.chip.widths,
            exact_counts(case, tool) == accelforge_counts(case.nest),
        )
        return WIDTH if same and widths.output != widths.psum else cause_of(case, tool, tensor)
    if tensor != "output":
        return cause_of(case, tool, tensor) if tensor == "input" else WHOLE
    innermost = zigzag_stays(case.nest, "output")[-2].memory
    more = sum(rules.values()) > sum(exact.values())
    return (DRAINS if memory == innermost else FIRST_SUMS) if more else WHOLE


def cycles_cause(case: Case, tool: str, exact: float) -> str:
    """Why a tool's cycles differ; ZigZag's waits come on top of another cause."""
    nest, rules = case.nest, CYCLES[tool](case)
    past = any(set(nest.kept(level.name)) < set(TENSORS) for level in nest.chip.memories)
    if tool == "accelforge":
        return TURNS if rules > exact else PAST if past else SLOWEST
    split = any(len(ChipStores(nest).at(level.name)) > 1 for level in nest.chip.memories[:-1])
    causes = [ROUNDED]
    if nest.chip.lanes > 1:
        causes = [LANES]
    elif rules < exact and (split or past):
        causes = [OWN_PORTS if split else PAST]
    if rules > zigzag_cycles(case, waits=False) * (1 + RULES_WITHIN):
        causes.append(WAITS)
    return "; ".join(causes)


ENERGIES = {"zigzag": zigzag_energies, "accelforge": accelforge_energies}
CYCLES = {"zigzag": zigzag_cycles, "accelforge": accelforge_cycles}


def compare_one(case: Case, tool: str, counts: Counts, nj: float, cycles: float) -> dict[str, Any]:
    """A row of the table.

    Args:
        case: The export.
        tool: The tool.
        counts: What it counts.
        nj: Its energy [nJ].
        cycles: Its cycles.
    """
    ours, by_rules, cost = exact_counts(case, tool), COUNTED[tool](case.nest), case.cost()
    exact, rules = exact_energies(case, cost), ENERGIES[tool](case)
    mac = cost.detail["energy_mac_nj"]
    energy, rules_nj = (mac + sum(parts.values()) / 1000 for parts in (exact, rules))
    row: dict[str, Any] = {
        "tool": tool,
        "layer": case.layer.name,
        "chip": case.nest.chip.name,
        "counts": len(ours),
        "counts_equal": sum(counts[key] == n for key, n in ours.items()),
        "counts_by_rules": sum(counts[key] == by_rules[key] for key in ours),
        "exact_nj": round(energy, 3),
        "tool_nj": round(nj, 3),
        "energy_ratio": round(nj / energy, 5),
        "energy_cause": "",
        "rules_nj": round(rules_nj, 3),
        "exact_cycles": round(cost.latency_cycles),
        "tool_cycles": round(cycles),
        "cycles_ratio": round(cycles / cost.latency_cycles, 5),
        "cycles_cause": "",
        "rules_cycles": round(CYCLES[tool](case)),
    }
    if abs(row["energy_ratio"] - 1) > ENERGY_WITHIN:
        row["energy_cause"] = energy_cause(case, tool, exact, rules)
    if abs(row["cycles_ratio"] - 1) > CYCLES_WITHIN:
        row["cycles_cause"] = cycles_cause(case, tool, cost.latency_cycles)
    return row


def _near(value: float, other: float) -> bool:
    return abs(value / other - 1) <= RULES_WITHIN


def reproduced(row: dict[str, Any]) -> bool:
    """Whether each figure that is not the exact model's is what the tool's rules give."""
    return (
        row["counts_by_rules"] == row["counts"]
        and (not row["energy_cause"] or _near(row["rules_nj"], row["tool_nj"]))
        and (not row["cycles_cause"] or _near(row["rules_cycles"], row["tool_cycles"]))
    )


def compare(found: list[Case], accelforge: str | None = None) -> Iterator[dict[str, Any]]:
    """A row for each export and tool."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        for case in found:
            said = zigzag_evaluated(case, Path(name))
            counts, nj = zigzag_says(case, said), said.energy_total / 1000
            yield compare_one(case, "zigzag", counts, nj, said.latency_total2)
    if accelforge is not None:
        for case, one in zip(found, run_accelforge(found, accelforge), strict=True):
            counts, nj = accelforge_says(case, one), 1e9 * one["energy_j"]
            cycles = max(one["seconds"].values()) * 1e6 * clock_of(case.nest.chip)
            yield compare_one(case, "accelforge", counts, nj, cycles)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--exports", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--levels", type=int, choices=(2, 3), default=3, help="of the chips")
    parser.add_argument("--accelforge", metavar="PYTHON", help="a Python 3.12 that has AccelForge")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    found = list(exports(options.exports, options.seed, options.levels))
    rows = list(compare(found, options.accelforge))
    for tool in dict.fromkeys(row["tool"] for row in rows):
        own = [row for row in rows if row["tool"] == tool]
        sums = [sum(row[n] for row in own) for n in ("counts", "counts_equal", "counts_by_rules")]
        print(f"{tool}: {len(own)} exports, {sums[0]} counts, {sums[1]} equal, {sums[2]} by rules")
        for name, cause in (("energy_ratio", "energy_cause"), ("cycles_ratio", "cycles_cause")):
            ratios = [row[name] for row in own]
            within = sum(not row[cause] for row in own)
            print(f"  {name}: {within} within the limit, {min(ratios)} to {max(ratios)}")
            for why, times in Counter(row[cause] for row in own if row[cause]).items():
                print(f"    {times:3} {why}")
    missed = [row for row in rows if not reproduced(row)]
    print(f"beyond a limit and not reproduced by the tools' rules: {len(missed)}")
    for row in missed:
        print(row)
    if options.csv is not None:
        write_table(options.csv, rows)
    raise SystemExit(bool(missed))


if __name__ == "__main__":
    main()
