"""Count impossible answers of a cost model over hostile layers, chips and spaces.

    python -m benchmarks impossible   # 1,000,000 mappings each of three seeds and two models

Draws layers (primes, strides above the taps, transposed, grouped, dilated, giant), chips (odd ones,
some with capacities, widths and bandwidths tensor by tensor, and every chip of the library) and
options of the map space, evaluates random mappings of each, and tries the laws of
`cost_models.laws` on every answer. Prints the laws that are broken; fails if one is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import numpy as np

import cost_models
from benchmarks.frame import Row, Table
from cost_models import Accelerator, CostModel, Level, Widths, capabilities_of
from cost_models.laws import broken_laws, facts_of
from layers import Layer, LayerError, LayerKind
from maestro_env import MapSpace
from maestro_env.bounds import figure_bounds
from maestro_env.map_space import FilterRule
from maestro_env.parameters import TileRule

PRIMES = (1, 2, 3, 5, 7, 11, 13, 17, 23, 29, 31, 53, 97, 101, 127, 251, 509, 1021)
TAPS = (1, 1, 2, 3, 3, 5, 7)
GIANTS = (1, 3, 1024, 4096, 8192, 32768, 151936)
KINDS = (LayerKind.CONV,) * 3 + (LayerKind.DSCONV, LayerKind.TRCONV, LayerKind.NGCONV)
BATCH = 200
"""Mappings of each layer on each chip."""


def random_layer(rng: np.random.Generator) -> Layer:
    """One hostile layer."""

    def one(choices: tuple[Any, ...]) -> Any:
        return choices[rng.integers(len(choices))]

    while True:
        sizes = GIANTS if rng.random() < 0.15 else PRIMES
        try:
            if rng.random() < 0.15:
                m, n, k = one(sizes), one(sizes), one(sizes)
                return Layer.gemm("trial", M=m, N=n, K=k, batch=int(rng.integers(1, 4)))
            kind, stride = one(KINDS), int(rng.integers(1, 5))
            r, s = one(TAPS), one(TAPS)
            y, x = (taps - 1 + one(sizes[:-1]) for taps in (r, s))
            k = 1 if kind is LayerKind.DSCONV else one(sizes)
            shape = {"K": k, "C": one(sizes), "Y": y, "X": x, "R": r, "S": s}
            shape["groups"] = int(rng.integers(2, 6)) if kind is LayerKind.NGCONV else 1
            shape["N"] = int(rng.integers(1, 4))
            more = uneven(rng) if rng.random() < 0.15 else {"stride": stride}
            return Layer("trial", kind, **shape, **more)
        except LayerError:
            continue


def uneven(rng: np.random.Generator) -> Row:
    """Strides and dilations that differ by axis, and padding that differs by side."""
    pairs = rng.integers(1, 5, (2, 2)).tolist()
    padding = rng.integers(0, 3, 4).tolist()
    return {"stride": tuple(pairs[0]), "dilation": tuple(pairs[1]), "padding": tuple(padding)}


def random_chip(rng: np.random.Generator, library: list[Accelerator]) -> Accelerator:
    """A chip of the library, or an odd one."""
    if rng.random() < 0.3:
        return library[rng.integers(len(library))]

    def perhaps(low: int, high: int) -> int | None:
        return None if rng.random() < 0.3 else int(np.exp(rng.uniform(np.log(low), np.log(high))))

    chip = Accelerator(
        int(np.exp(rng.uniform(0, np.log(5000)))),
        perhaps(8, 10_000),
        perhaps(1000, 10_000_000),
        perhaps(1, 1000),
        perhaps(1, 300),
        int(rng.choice([1, 1, 2, 4, 7])),
    )
    if rng.random() < 0.7:
        return chip

    def buffer(low: int, high: int) -> Level:
        once = bool(rng.integers(2)), True, bool(rng.integers(2))
        own = perhaps(low, high), None, perhaps(low, high)
        return Level(tensor_bytes=own, double_buffer=once)

    l2, l1 = buffer(1000, 10_000_000), buffer(8, 10_000)
    dram = Level(read_bw=perhaps(8, 2000), write_bw=perhaps(8, 2000))
    bits = rng.choice([4, 8, 16, 32], 4).tolist()
    bits[3] = max(bits[2:])  # a partial sum becomes an output
    return replace(chip, offchip_bw=None, levels=(dram, l2, l1), widths=Widths(*bits))


def random_space(
    rng: np.random.Generator, model: CostModel, layer: Layer, chip: Accelerator
) -> MapSpace | None:
    """The map space with random options; None where they leave no mapping."""
    options: Row = {
        "tiles": str(rng.choice(get_args(TileRule))),
        "filters": str(rng.choice(get_args(FilterRule))),
        "repeat": capabilities_of(model).repeated,
    }
    if rng.random() < 0.2:
        options["co_search"] = ("num_pes",)
    if "bypass" in capabilities_of(model).mapping_fields and rng.random() < 0.5:
        options["full"] = True
    try:
        return MapSpace(layer, chip, **options)
    except ValueError:
        return None


def trials(
    model: CostModel, samples: int, seed: int, library: list[Accelerator]
) -> Iterator[tuple[Layer, Accelerator, int, dict[str, int]]]:
    """Layers and chips with the number of feasible answers and the findings by law."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < samples:
        layer, chip = random_layer(rng), random_chip(rng, library)
        if "bypass" not in capabilities_of(model).mapping_fields:
            chip = chip.in_elements()
        space = random_space(rng, model, layer, chip)
        if space is None:
            continue
        size = min(BATCH, samples - done)
        mappings = space.decode(space.sample(size, int(rng.integers(2**31))))
        costs = model.evaluate_batch(layer, chip, mappings)
        pes = mappings.num_pes
        fewest = None if pes is None else int(pes.min())
        least = figure_bounds(model, layer, chip, fewest, bypass=space.full)
        facts = facts_of(layer, chip, least)
        done += size
        found = broken_laws(costs, facts, pes, chip.simd_lanes)
        yield layer, chip, int(costs.feasible.sum()), found


def row_of(given: Any, cost_model: str, seed: int) -> tuple[int, ...]:
    """Findings of so many mappings; each law that is broken is printed with its first example."""
    model, total = cost_models.load(cost_model, threads=1), Counter[str]()
    pairs = feasible = 0
    library = list(cost_models.PRESETS.values())
    for layer, chip, answers, found in trials(model, given.samples, seed, library):
        pairs += 1
        feasible += answers
        for law in (law for law, count in found.items() if count and not total[law]):
            print(f"{law}: {layer} on {chip}", flush=True)
        total.update(found)
    return given.samples, pairs, feasible, sum(total.values())


TABLE = Table(
    __doc__,
    ("cost_model", "seed", "samples", "pairs", "feasible", "findings", "cpu_s"),
    lambda given: product(given.cost_model, given.seed),
    row_of,
    "impossible.csv",
    {"samples": 1_000_000, "seed": [1, 2, 3], "cost_model": ["exact", "maestro"]},
    {"samples": 1_000},
    lambda rows, _: any(row["findings"] != "0" for row in rows),
)
