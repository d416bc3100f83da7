"""The chips of the library beside their publications.

python benchmarks/chips.py area                    # ours and the published areas
python benchmarks/chips.py eyeriss [--samples N]   # AlexNet's CONV layers: accesses, as published
python benchmarks/chips.py resnet18 [--samples N]  # ResNet-18 whole on every chip
python benchmarks/chips.py nvdla [--samples N]     # ResNet-50: images a second, as published
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import baselines
import cost_models
import layers
from cost_models import PRESETS, Accelerator, Cost
from cost_models.prices import chip_prices, open_levels
from layers import Layer, LayerKind
from maestro_env import MapSpace, Problem

AREAS = {
    "eyeriss": (12.25, "3.5 x 3.5 mm core: Chen et al., JSSC 2017, table IV"),
    "nvdla-small": (0.91, "synthesis at 28 nm: NVDLA primer"),
    "nvdla-full": (3.3, "synthesis at 16 nm: NVDLA primer"),
    "tpu-v1": (331.0, "die, an upper limit: Jouppi et al., ISCA 2017, table 2"),
}
"""Published areas [mm^2]."""

ALEXNET = (
    (Layer("CONV1", LayerKind.CONV, K=96, C=3, Y=227, X=227, R=11, S=11, stride=4, N=4), 18.5, 5.0),
    (Layer("CONV2", LayerKind.NGCONV, K=128, C=48, Y=31, X=31, R=5, S=5, N=4, groups=2), 77.6, 4.0),
    (Layer("CONV3", LayerKind.CONV, K=384, C=256, Y=15, X=15, R=3, S=3, N=4), 50.2, 3.0),
    (
        Layer("CONV4", LayerKind.NGCONV, K=192, C=192, Y=15, X=15, R=3, S=3, N=4, groups=2),
        37.4,
        2.1,
    ),
    (
        Layer("CONV5", LayerKind.NGCONV, K=128, C=192, Y=15, X=15, R=3, S=3, N=4, groups=2),
        24.9,
        1.3,
    ),
)
"""AlexNet's layers for a batch of 4, with accesses to the global buffer and to DRAM [MB] (Chen et
al., JSSC 2017, table V)."""


IMAGES_PER_SECOND = {"nvdla-small": 7.3, "nvdla-full": 269.0}
"""ResNet-50 at INT8: estimates of the NVDLA primer, table of configurations."""

UNIT_ELEMENTS = 100
"""Chips of the library whose L1 holds fewer elements have no more than registers in a PE."""


def best(
    layer: Layer,
    chip: Accelerator,
    objective: str,
    samples: int,
    filters: str = "whole",
    full: bool = False,
) -> Cost | None:
    """The cost of the best mapping that a search finds; None where it finds none."""
    problem = Problem(
        layer, chip, objective, space={"filters": filters, "full": full}, budget=samples
    )
    baselines.load("annealing").search(problem, samples, 0)
    if problem.best_action is None:
        return None
    mapping = problem.space.decode(problem.best_action[None])[0]
    return problem.cost_model.evaluate(layer, chip, mapping)


def unit_tiles(
    layer: Layer,
    chip: Accelerator,
    samples: int,
    objective: str = "edp",
    fixed: Mapping[str, list[str | int]] | None = None,
) -> Cost | None:
    """As `best`, where a PE holds one output and as many channels as it has lanes.

    Where a PE is no more than a multiplier and its registers, no other mapping fits.
    `fixed` are choices of other parameters that are left, by name.
    """
    only: dict[str, list[Any]] = dict(fixed or {})
    for parameter in MapSpace(layer, chip, filters="free").parameters:
        if parameter.name.startswith("inner_tile_"):
            most = chip.simd_lanes if parameter.name == "inner_tile_C" else 1
            only[parameter.name] = [tile for tile in map(int, parameter.choices) if tile <= most]
            only[parameter.name] = only[parameter.name][-1:]
        elif parameter.name == "outer_tile_K" and fixed:  # whole groups of filters
            groups = [tile for tile in map(int, parameter.choices) if tile % chip.num_pes == 0]
            only[parameter.name] = groups or list(parameter.choices)
    space = {"filters": "free", "only": only}
    problem = Problem(layer, chip, objective, space=space, budget=samples)
    baselines.load("annealing").search(problem, samples, 0)
    if problem.best_action is None:
        return None
    mapping = problem.space.decode(problem.best_action[None])[0]
    return problem.cost_model.evaluate(layer, chip, mapping)


def area() -> None:
    print(f"{'chip':12} {'PEs':>6} {'MACs':>8} {'L1':>9} {'L2':>9} {'sum':>9} {'known':>7}  mm^2")
    for name, chip in PRESETS.items():
        if open_levels(chip):
            continue
        prices = chip_prices(chip)
        parts = [
            chip.num_pes * chip.simd_lanes * prices.mac_area_um2,
            chip.num_pes * prices.levels[2].area_um2,
            prices.levels[1].area_um2,
        ]
        cells = " ".join(f"{part / 1e6:9.3f}" for part in (*parts, sum(parts)))
        published, source = AREAS.get(name, (0.0, "no chip"))
        print(f"{name:12} {chip.num_pes:6} {cells[1:]} {published or '-':>7}  {source}")


def megabytes(cost: Cost, level: str, bits: int) -> float:
    """Reads and writes of a level [MB]."""
    kinds = (f"{level}_read", f"{level}_write")
    return sum(of[kind] for of in cost.accesses.values() for kind in kinds) * bits / 8e6


def eyeriss(samples: int, full: bool) -> None:
    chip = PRESETS["eyeriss"]
    print(f"least energy of {samples:,} samples of annealing, seed 0; MB of 4 images")
    print(f"{'layer':6} {'GLB':>8} {'JSSC':>9} {'ratio':>6} {'DRAM':>8} {'JSSC':>9} {'ratio':>6}")
    totals = Counter[str]()
    for layer, glb, dram in ALEXNET:
        cost = best(layer, chip, "energy", samples, "free", full)
        if cost is None:
            print(f"{layer.name:6} no feasible mapping found")
            continue
        ours = megabytes(cost, "l2", 16), megabytes(cost, "dram", 16)
        totals.update({"glb": ours[0], "dram": ours[1], "pglb": glb, "pdram": dram})  # type: ignore[dict-item]
        print(_row(layer.name, ours[0], glb, ours[1], dram))
    print(_row("all", totals["glb"], totals["pglb"], totals["dram"], totals["pdram"]))


def _row(name: str, glb: float, theirs: float, dram: float, published: float) -> str:
    return (
        f"{name:6} {glb:8.1f} {theirs:9.1f} {glb / theirs:6.2f} "
        f"{dram:8.1f} {published:9.1f} {dram / published:6.2f}"
    )


def resnet18(samples: int, chips: Iterable[str]) -> None:
    print(
        f"least EDP of {samples:,} samples a shape of annealing, seed 0; filters are tiled where "
        "PEs have capacities a tensor; PEs that have registers alone hold one output"
    )
    print(
        f"{'chip':12} {'layers':>6} {'ms':>9} {'mJ':>8} {'W':>7} {'MACs/cycle':>10} {'of peak':>7}"
    )
    shapes: dict[Layer, int] = {}
    for layer in layers.network("resnet18"):
        shape = layer.renamed("")
        shapes[shape] = shapes.get(shape, 0) + 1
    for name in chips:
        chip = PRESETS[name]
        own = any(chip.levels[2].tensor_bytes)
        tiny = own and (chip.in_elements().l1_bytes or 0) < UNIT_ELEMENTS
        found = {
            shape: unit_tiles(shape, chip, samples)
            if tiny
            else best(shape, chip, "edp", samples, "free" if own else "whole")
            for shape in shapes
        }
        done = {shape: cost for shape, cost in found.items() if cost is not None}
        cycles = sum(cost.latency_cycles * shapes[shape] for shape, cost in done.items())
        energy = sum(cost.energy_nj * shapes[shape] for shape, cost in done.items())
        macs = sum(shape.macs * shapes[shape] for shape in done)
        ms = cycles / ((chip.clock_mhz or 1000.0) * 1e3)
        mapped = sum(shapes[shape] for shape in done)
        rate = macs / cycles if cycles else 0.0
        print(
            f"{name:12} {mapped:3}/{sum(shapes.values())} {ms:9.3f} {energy / 1e6:8.3f} "
            f"{energy / ms / 1e6 if ms else 0:7.3f} {rate:10.1f} "
            f"{rate / chip.peak_macs_per_cycle:7.1%}",
            flush=True,
        )


def nvdla(samples: int) -> None:
    """Images a second of ResNet-50, filters over the cells as the chip has them."""
    print(f"least latency of {samples:,} samples a shape of annealing, seed 0; K over the cells")
    print(
        f"{'chip':12} {'images/s':>8} {'primer':>7} {'ratio':>6} {'MACs/cycle':>10} {'of peak':>7}"
    )
    network = layers.network("resnet50")
    shapes = Counter(layer.renamed("") for layer in network)
    for name, published in IMAGES_PER_SECOND.items():
        chip = PRESETS[name]
        cells: dict[str, list[str | int]] = {
            "inner_parallel": ["K"],
            "cluster_size": [chip.num_pes],
        }
        cycles = 0.0
        for shape, times in shapes.items():
            cost = unit_tiles(shape, chip, samples, "latency", cells)
            if cost is None:
                raise SystemExit(f"{name}: no feasible mapping of {shape} found")
            cycles += times * cost.latency_cycles
        images = (chip.clock_mhz or 0.0) * 1e6 / cycles
        rate = sum(layer.macs for layer in network) / cycles
        print(
            f"{name:12} {images:8.1f} {published:7.1f} {images / published:6.2f} {rate:10.1f} "
            f"{rate / chip.peak_macs_per_cycle:7.1%}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("area", "eyeriss", "resnet18", "nvdla"))
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--chips", nargs="+", default=list(PRESETS))
    parser.add_argument("--full", action="store_true", help="eyeriss: the full map space")
    args = parser.parse_args()
    print(cost_models.load("exact"))
    if args.what == "area":
        area()
    elif args.what == "eyeriss":
        eyeriss(args.samples, args.full)
    elif args.what == "nvdla":
        nvdla(args.samples)
    else:
        resnet18(args.samples, args.chips)


if __name__ == "__main__":
    main()
