"""The chips of the library beside their publications.

python -m benchmarks chips area                    # ours and the published areas
python -m benchmarks chips resnet18 [--samples N]  # ResNet-18 whole on every chip
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import baselines
from benchmarks.frame import Row, Summary
from cost_models import PRESETS, Accelerator, Cost
from cost_models.prices import chip_prices, open_levels
from layers import Layer, distinct
from maestro_env import MapSpace, Problem

AREAS = {
    "eyeriss": (12.25, "3.5 x 3.5 mm core: Chen et al., JSSC 2017, table IV"),
    "nvdla-small": (0.91, "synthesis at 28 nm: NVDLA primer"),
    "nvdla-full": (3.3, "synthesis at 16 nm: NVDLA primer"),
    "tpu-v1": (331.0, "die, an upper limit: Jouppi et al., ISCA 2017, table 2"),
}
"""Published areas [mm^2]."""

UNIT_ELEMENTS = 100
"""Chips of the library whose L1 holds fewer elements have no more than registers in a PE."""


def best_cost(problem: Problem, method: str, samples: int) -> Cost | None:
    """The cost of the best mapping that a method finds; None where it finds none."""
    baselines.load(method).search(problem, samples, 0)
    if problem.best_action is None:
        return None
    mapping = problem.space.decode(problem.best_action[None])[0]
    return problem.cost_model.evaluate(problem.layer, problem.accelerator, mapping)


def searched(layer: Layer, chip: Accelerator, samples: int, **space: Any) -> Cost | None:
    """The cost of the mapping of least EDP that annealing finds; None where it finds none."""
    return best_cost(Problem(layer, chip, "edp", space=space), "annealing", samples)


def unit_tiles(layer: Layer, chip: Accelerator, samples: int) -> Cost | None:
    """As `searched`, where a PE holds one output and as many channels as it has lanes.

    Where a PE is no more than a multiplier and its registers, no other mapping fits.
    """
    only: dict[str, list[Any]] = {}
    for parameter in MapSpace(layer, chip, filters="free").parameters:
        if parameter.name.startswith("inner_tile_"):
            most = chip.simd_lanes if parameter.name == "inner_tile_C" else 1
            only[parameter.name] = [tile for tile in map(int, parameter.choices) if tile <= most]
            only[parameter.name] = only[parameter.name][-1:]
    return searched(layer, chip, samples, filters="free", only=only)


def area(_: Any) -> Iterator[Row]:
    """A row a chip: our areas beside the published one [mm^2]."""
    for name, chip in PRESETS.items():
        if open_levels(chip):
            continue
        prices = chip_prices(chip)
        parts = [
            chip.num_pes * chip.simd_lanes * prices.mac_area_um2,
            chip.num_pes * prices.levels[2].area_um2,
            prices.levels[1].area_um2,
        ]
        named = zip(("MACs", "L1", "L2", "sum"), (*parts, sum(parts)), strict=True)
        published, source = AREAS.get(name, ("-", "no chip"))
        row = {"chip": name, "PEs": chip.num_pes, **{n: part / 1e6 for n, part in named}}
        yield row | {"known [mm^2]": published, "source": source}


def resnet18(given: Any) -> Iterator[Row]:
    """A row a chip: the network's time, energy and share of the peak."""
    samples = given.samples
    print(
        f"least EDP of {samples:,} samples a shape of annealing, seed 0; filters are tiled where "
        "PEs have capacities a tensor; PEs that have registers alone hold one output"
    )
    shapes = dict(distinct("resnet18"))
    for name in given.chips:
        chip = PRESETS[name]
        own = any(chip.levels[2].tensor_bytes)
        tiny = own and (chip.in_elements().l1_bytes or 0) < UNIT_ELEMENTS
        found = {
            shape: unit_tiles(shape, chip, samples)
            if tiny
            else searched(shape, chip, samples, filters="free" if own else "whole")
            for shape in shapes
        }
        done = {shape: cost for shape, cost in found.items() if cost is not None}
        cycles = sum(cost.latency_cycles * shapes[shape] for shape, cost in done.items())
        energy = sum(cost.energy_nj * shapes[shape] for shape, cost in done.items())
        macs = sum(shape.macs * shapes[shape] for shape in done)
        ms = cycles / ((chip.clock_mhz or 1000.0) * 1e3)
        rate = macs / cycles if cycles else 0.0
        yield {
            "chip": name,
            "layers": f"{sum(shapes[one] for one in done)}/{sum(shapes.values())}",
            "ms": ms,
            "mJ": energy / 1e6,
            "W": energy / ms / 1e6 if ms else 0.0,
            "MACs/cycle": rate,
            "of peak": rate / chip.peak_macs_per_cycle,
        }


WHAT = {"area": area, "resnet18": resnet18}
TABLE = Summary(
    __doc__,
    lambda given: WHAT[given.what](given),
    options={"what_": (str, None, WHAT), "samples": 2000, "chips": list(PRESETS)},
    quick={"samples": 20},
)
