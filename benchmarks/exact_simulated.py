"""The closed form against the simulator on random tiny cases: every count of every mapping.

Layers have any stride, dilation, batch, groups and padding; mappings have ragged tiles, second
parallel dimensions, and tensors that pass a level; chips have capacities, widths, copies and
bandwidths tensor by tensor; the model's options are drawn too. Of every layer, chip and choice of
options some mappings are drawn; all their counts and reasons are compared, and of one of them
every field of its cost, prices included (they follow from the counts).

Work is done seed by seed, 1,000 mappings each, and can be shared among several processes:

    python -m benchmarks exact_simulated --seeds 1000 --out simulated.csv --share 0/2

With ``--padded`` all layers have padding that is free.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.nest_features import differing as counts_differing
from benchmarks.seed_lines import seed_table
from cost_models import Accelerator, CostBatch, MappingBatch
from cost_models.exact import ExactModel
from cost_models.exact.simulator_model import SimulatorModel
from layers import DIMS, Layer
from tests.cost_models.tiny import (
    Case,
    random_case,
    random_full_case,
    random_full_mapping,
    random_mapping,
    random_whole_case,
)

CHOICES: dict[str, tuple[Any, ...]] = {
    "halo_time": ("retain", "none"),
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "stepwise", "stepwise", "bound"),
    "padding": ("counted", "counted", "free"),
    "window": ("touched", "touched", "box"),
    "double_buffer": (True, True, False),
    # prices of buffers without a capacity take longer than all else, so they are drawn rarely
    "energy": ("eyeriss", *["maestro"] * 9, "cacti"),
    "area": ("maestro", *["maestro"] * 9, "provisioned"),
}
Draw = tuple[Callable[..., Case], Callable[..., Any]]
DRAWS: tuple[Draw, ...] = (
    (random_full_case, random_full_mapping),
    (random_full_case, random_full_mapping),
    (random_whole_case, partial(random_mapping, dims=DIMS)),
    (random_case, random_mapping),
)
PER_SEED, PER_CASE, MAX_MACS = 1000, 25, 60


def differing(left: CostBatch, right: CostBatch) -> set[int]:
    """Rows whose reasons, or whose counts where there are any, are not the same."""
    wrong = left.reason != right.reason
    fits = left.feasible & right.feasible
    for name in set(left.counts) & set(right.counts):
        wrong |= fits & (left.counts[name] != right.counts[name])
    found = {int(row) for row in np.flatnonzero(wrong)}
    for row in np.flatnonzero(fits)[:1]:
        if left[int(row)] != right[int(row)]:
            found.add(int(row))
    return found


def report(
    options: dict[str, Any], layer: Layer, chip: Accelerator, rows: tuple[Any, Any, Any]
) -> None:
    """Print a mapping on which the two differ, with the counts that do."""
    mapping, left, right = rows
    print(f"{options} {layer} {chip} {mapping}")
    found = counts_differing(left.counts, right.counts)
    print(found or (left.infeasible, right.infeasible), flush=True)


def padded_case(rng: np.random.Generator, max_macs: int) -> Case:
    """As `random_full_case`, of layers that have padding."""
    while True:
        case = random_full_case(rng, max_macs)
        if any(case.layer.padding):
            return case


def run(given: Any, seed: int) -> dict[str, int]:
    """Compare the mappings drawn from a seed; how many there are, are feasible, and differ."""
    rng = np.random.default_rng(seed)
    feasible = differ = 0
    for number in range(PER_SEED // PER_CASE):
        options = {
            name: values[int(rng.integers(len(values)))] if rng.random() < 0.5 else values[0]
            for name, values in CHOICES.items()
        }
        draw_case, draw_mapping = DRAWS[number % len(DRAWS)]
        if given.padded:
            options["padding"] = "free"
            draw_case, draw_mapping = padded_case, random_full_mapping
        case = draw_case(rng, MAX_MACS)
        layer, chip = case.layer, case.accelerator
        drawn = [draw_mapping(rng, layer) for _ in range(PER_CASE)]
        batch = MappingBatch.from_mappings(drawn, layer.extents)
        left, right = (
            model.evaluate_batch(layer, chip, batch)
            for model in (ExactModel(threads=1, **options), SimulatorModel(**options))
        )
        feasible += int(left.feasible.sum())
        for row in sorted(differing(left, right)):
            differ += 1
            report(options, layer, chip, (batch[row], left[row], right[row]))
    return {"mappings": PER_SEED, "feasible": feasible, "differ": differ}


TABLE = seed_table(
    __doc__,
    ("mappings", "feasible", "differ"),
    run,
    ("differ",),
    options={"padded": (False, "all padding is free, and there is")},
)
