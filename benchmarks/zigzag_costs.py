"""Energy and cycles that ZigZag gives to exported mappings of the zoo, beside the exact model's.

    pip install 'marl-mapper[dev]'
    python -m benchmarks.zigzag_costs [--exports 60] [--seed 0] [--csv docs/data/zigzag-costs.csv]

Every mapping is written by `mapper export --to zigzag`, read by ZigZag's own parsers and run by its
cost model. Where ZigZag's energy is more than 1 % off the exact model's, or its cycles more than
10 %, the figure is worked out again from the exact model's counts by ZigZag's rules
(`zigzag_energy`, `zigzag_cycles`), which names the cause.
"""

from __future__ import annotations

import argparse
import csv
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np

import cost_models
import layers
from benchmarks.zigzag_counts import evaluated, random_mapping, zigzag_moves
from benchmarks.zigzag_windows import Transfer, steps_kept, union_of_windows, window
from cost_models import Accelerator, Cost, Mapping
from layers import Layer
from mapper.export.chip_stores import stores_of
from mapper.export.export_files import write_files
from mapper.export.loop_factors import LoopFactors, factors_of
from mapper.export.zigzag_files import port_bits, temporal_loops, zigzag_files

MODEL = cost_models.load("exact", halo_time="none")
LAYERS = (
    "resnet18.conv2_1a", "mobilenetv2.2", "alexnet.1", "mlp.1", "bert_base.0", "mobilenetv2.1",
    "vgg16.5", "resnet18.6", "gpt2.0", "resnet50.3",
)  # fmt: skip
CHIPS = ("edge", "cloud", "archgym", "eyeriss", "gemmini-16", "nvdla-small")
ENERGY_WITHIN, CYCLES_WITHIN = 0.01, 0.10
TRIES = 3000
DRAWS = (1, 30)
"""Every other mapping is the best of so many draws."""
RULES_WITHIN = 0.02
"""How near ZigZag's rules must come to its figure."""

FIRST_SUMS = "ZigZag reads back partial sums the first time too, when they are zero"
HALO = "in ZigZag, PEs share no halo: each has its tile read from L2"
DRAINS = "ZigZag charges L1 for giving outputs away and taking them back"
WHOLE = "ZigZag counts whole accesses of a wide port"
LANES = "ZigZag has one MAC a PE and cycle"
OWN_PORTS = "in ZigZag, memories with a capacity of their own have a NoC port of their own"
WAITS = "ZigZag waits for a tile that a memory cannot hold twice"
ROUNDED = "in ZigZag, each tensor's transfer takes whole cycles and a full tile"


@dataclass(frozen=True)
class Export:
    """A mapping on a chip of the library, and what the exact model says of it."""

    name: str
    layer: Layer
    chip: Accelerator
    mapping: Mapping
    cost: Cost

    def nest(self) -> LoopFactors:
        """As loop bounds."""
        return factors_of(self.layer, self.chip, self.mapping)


def exports(count: int, seed: int) -> Iterator[Export]:
    """Layers times chips, each with a mapping of whole factors that fits."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        layer = layers.get(LAYERS[place % len(LAYERS)])
        name = CHIPS[place // len(LAYERS) % len(CHIPS)]
        chip = Accelerator.load(name)
        found: list[Export] = []
        for _ in range(TRIES):
            mapping = random_mapping(layer, rng, chip.num_pes)
            cost = MODEL.evaluate(layer, chip, mapping)
            if cost.feasible:
                found.append(Export(name, layer, chip, mapping, cost))
            if len(found) == DRAWS[place % 2]:
                break
        if found:
            yield min(found, key=lambda e: e.cost.latency_cycles * e.cost.energy_nj)


def bits_moved(export: Export) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Bits by ZigZag's rules: of each tensor, by level and way, a term for each direction."""
    c, widths = export.cost.counts, export.chip.widths
    back = (c["macs"] > c["dram_out_w"] - c["dram_out_r"], c["l2r_psum"] > 0, c["dram_out_r"] > 0)
    up = [widths.psum if again else widths.output for again in back]
    down = [widths.psum if again else 0 for again in back]
    inputs, filters = widths.input, widths.filter
    mac, noc, dram = c["macs"], c["l2w_out"], c["dram_out_w"]
    drain = c["l1drain_out"]
    return {
        ("L1", "read"): [("input", mac * inputs), ("filter", mac * filters),
                         ("output", mac * down[0]), ("output", drain * up[1])],
        ("L1", "write"): [("input", c["l1w_in"] * inputs), ("filter", c["l1w_fil"] * filters),
                          ("output", mac * up[0]), ("output", drain * down[1])],
        ("L2", "read"): [("input", c["l2r_in_tile"] * inputs),
                         ("filter", c["l2r_fil_tile"] * filters),
                         ("output", noc * down[1]), ("output", dram * up[2])],
        ("L2", "write"): [("input", c["dram_in"] * inputs), ("filter", c["dram_fil"] * filters),
                          ("output", noc * up[1]), ("output", dram * down[2])],
        ("DRAM", "read"): [("input", c["dram_in"] * inputs), ("filter", c["dram_fil"] * filters),
                           ("output", dram * down[2])],
        ("DRAM", "write"): [("output", dram * up[2])],
    }  # fmt: skip


def zigzag_energy(export: Export) -> float:
    """Energy [nJ] by ZigZag's rules, from the exact model's counts."""
    nest = export.nest()
    moved = bits_moved(export)
    total = 1000 * export.cost.detail["energy_mac_nj"]
    for store in stores_of(nest):
        prices = (store.read_pj, store.write_pj)
        for way, price, width in zip(
            ("read", "write"), prices, port_bits(nest, store), strict=True
        ):
            for tensor, bits in moved[store.level, way]:
                if tensor in store.tensors:
                    total += bits // width * width / 8 * price
    return total / 1000


def transfers(nest: LoopFactors, level: str, tensor: str, bits: float, width: int) -> Transfer:
    """A tensor that leaves a level: again whenever a loop moves it that is not innermost still."""
    parts = temporal_loops(nest)
    above = parts["DRAM"] if level == "DRAM" else parts["L2"] + parts["DRAM"]
    inside = "L2" if level == "DRAM" else "L1"
    times = prod(steps for _, steps in above[steps_kept(nest, inside, tensor) :])
    total = prod(steps for part in parts.values() for _, steps in part)
    period = total // times
    allowed = window(nest, inside, tensor, period)
    return Transfer(times, ceil(bits / times / width), period, allowed)


def stalls(found: list[Transfer], total: int) -> int:
    """Cycles for which a port holds up the array."""
    late = sum(max(0, t.cycles - t.allowed) * (t.times - 1) for t in found)
    if len(found) < 2:
        return late
    early = sum(min(0, t.cycles - t.allowed) * (t.times - 1) for t in found)
    windows = sum(t.allowed * (t.times - 1) for t in found)
    return late + max(0, early + windows - union_of_windows(found, total))


def zigzag_cycles(export: Export, *, waits: bool = True) -> int:
    """Cycles by ZigZag's rules: compute, the slowest port's stalls, first fills, last drains.

    Args:
        export: The mapping.
        waits: Whether a tile that a memory cannot hold twice is waited for.
    """
    nest = export.nest()
    moved = bits_moved(export)
    total = prod(steps for part in temporal_loops(nest).values() for _, steps in part)
    worst, ends = 0, 0
    for store in stores_of(nest):
        if store.level == "L1":
            continue
        for way, width in zip(("read", "write"), port_bits(nest, store), strict=True):
            inside: dict[str, float] = {}  # the first term of a tensor is at the inner boundary
            for tensor, bits in moved[store.level, way]:
                if tensor in store.tensors and (way == "read" or tensor == "output"):
                    inside.setdefault(tensor, bits)
            found = {
                tensor: transfers(nest, store.level, tensor, bits, width)
                for tensor, bits in inside.items()
                if bits
            }
            moves = list(found.values())
            if not waits:
                moves = [replace(move, allowed=move.period) for move in moves]
            worst = max(worst, stalls(moves, total))
            ends += sum(
                t.cycles for name, t in found.items() if (name == "output") == (way == "write")
            )
    return total + worst + ends


def energy_cause(export: Export) -> str:
    """The rule that changes most."""
    c, widths = export.cost.counts, export.chip.widths
    prices = {store.level: store.read_pj for store in stores_of(export.nest())}
    outputs = c["dram_out_w"] - c["dram_out_r"]
    sizes = {
        FIRST_SUMS: outputs * widths.psum * (prices["L2"] + prices["DRAM"])
        * (c["dram_out_r"] > 0 or c["l2r_psum"] > 0),
        HALO: (c["l2r_in_tile"] - c["l2r_in"]) * widths.input * prices["L2"],
        DRAINS: abs(2 * c["l1drain_out"] - c["l2r_psum"]) * widths.psum * prices["L1"],
    }  # fmt: skip
    exact = export.cost.energy_nj - export.cost.detail["energy_leakage_nj"]
    name = max(sizes, key=lambda rule: sizes[rule])
    return name if zigzag_energy(export) > exact else WHOLE


def cycles_cause(export: Export) -> str:
    """Why ZigZag's cycles differ; its waits come on top of another cause."""
    causes = [ROUNDED]
    split = sum(store.level == "L2" for store in stores_of(export.nest())) > 1
    if export.chip.simd_lanes > 1:
        causes = [LANES]
    elif split and zigzag_cycles(export) < export.cost.latency_cycles:
        causes = [OWN_PORTS]
    if zigzag_cycles(export) > zigzag_cycles(export, waits=False) * (1 + RULES_WITHIN):
        causes.append(WAITS)
    return "; ".join(causes)


def compare_one(export: Export, folder: Path) -> dict[str, Any]:
    """A row of the table."""
    nest, cost = export.nest(), export.cost
    write_files(folder, zigzag_files(nest))
    found = evaluated(folder, nest)
    moves = zigzag_moves(found)
    energy = cost.energy_nj - cost.detail["energy_leakage_nj"]
    theirs, cycles = found.energy_total / 1000, round(found.latency_total2)
    row: dict[str, Any] = {
        "layer": export.layer.name,
        "chip": export.name,
        "orders": "/".join(export.mapping.orders),
        "counts_equal": sum(cost.counts[name] == value for name, value in moves.items()),
        "counts": len(moves),
        "exact_nj": round(energy, 3),
        "zigzag_nj": round(theirs, 3),
        "energy_ratio": round(theirs / energy, 5),
        "energy_cause": "",
        "rules_nj": round(zigzag_energy(export), 3),
        "exact_cycles": round(cost.latency_cycles),
        "zigzag_cycles": cycles,
        "cycles_ratio": round(cycles / cost.latency_cycles, 5),
        "cycles_cause": "",
        "rules_cycles": zigzag_cycles(export),
    }
    if abs(row["energy_ratio"] - 1) > ENERGY_WITHIN:
        row["energy_cause"] = energy_cause(export)
    if abs(row["cycles_ratio"] - 1) > CYCLES_WITHIN:
        row["cycles_cause"] = cycles_cause(export)
    return row


def _near(value: float, other: float) -> bool:
    return abs(value / other - 1) <= RULES_WITHIN


def reproduced(row: dict[str, Any]) -> bool:
    """Whether each figure that is beyond its limit is what ZigZag's rules give."""
    return (not row["energy_cause"] or _near(row["rules_nj"], row["zigzag_nj"])) and (
        not row["cycles_cause"] or _near(row["rules_cycles"], row["zigzag_cycles"])
    )


def compare(count: int, seed: int) -> list[dict[str, Any]]:
    """A row for each export."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        return [compare_one(export, Path(name)) for export in exports(count, seed)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--exports", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = compare(options.exports, options.seed)
    equal, counts = (sum(row[name] for row in rows) for name in ("counts_equal", "counts"))
    print(f"{len(rows)} exports; counts: {equal} of {counts} equal")
    for name, cause in (("energy_ratio", "energy_cause"), ("cycles_ratio", "cycles_cause")):
        ratios = [row[name] for row in rows]
        within = sum(not row[cause] for row in rows)
        print(f"{name}: {within} of {len(rows)} within the limit, {min(ratios)} to {max(ratios)}")
    missed = [row for row in rows if not reproduced(row)]
    print(f"beyond a limit and not reproduced by ZigZag's rules: {len(missed)}")
    for row in missed:
        print(row)
    if options.csv is not None:
        with options.csv.open("w", encoding="utf-8", newline="") as text:
            writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    raise SystemExit(bool(missed))


if __name__ == "__main__":
    main()
