"""Processor time of whole runs: the dense run, masks alone, and the compiled kernels.

The runs take turns, an update each, so that what else the machine does falls on all of them; the
phases are the preset's, over fewer updates. Evaluation is not part of it.

    python -m benchmarks mst.time --width 256 --updates 40 --out docs/data/mst-time.csv
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from benchmarks.frame import Table, shown
from benchmarks.mst.step import noise
from mst.arms import arm_run
from mst.presets import preset
from mst.switching import dense_above
from mst.trainer import Pretrainer

RUNS = {
    "dense": ("dense", "masked"),
    "masks alone": ("mst", "masked"),
    "free": ("mst", "compiled"),
    "block4": ("mst-block4", "compiled"),
}
"""Run -> its arm and backend."""


def measure(given: Any) -> list[tuple[str, ...]]:
    """One row a run: processor time of all updates [s], and times below the dense run's."""
    torch.set_num_threads(1)
    updates, base = given.updates, preset(given.preset).config
    base = replace(base, shape=replace(base.shape, width=given.width))
    corpus = noise(4_000_000)
    trainers = {}
    for name, (arm, backend) in RUNS.items():
        config = replace(
            arm_run(arm, base, updates * base.tokens_per_update).config,
            backend="compiled" if backend == "compiled" else "masked",
        )
        warm = Pretrainer(config, 1, 4, corpus)
        for _ in range(2):  # kernels are compiled before the clock starts
            warm.step()
        trainers[name] = Pretrainer(config, 0, updates, corpus, dense_above(config))
    for _ in range(updates):
        for trainer in trainers.values():
            trainer.step()
    dense, rows = trainers["dense"], []
    for name, one in trainers.items():
        theory, executed = (
            getattr(dense.work, kind).total / getattr(one.work, kind).total
            for kind in ("theory", "executed")
        )
        below = (f"{ratio:.2f}" for ratio in (dense.cpu_s / one.cpu_s, theory, executed))
        rows.append((name, f"{one.cpu_s:.1f}", *below))
    return rows


TABLE = Table(
    __doc__,
    (
        *("run", "processor time [s]", "times below dense", "counted, times below dense"),
        "executed, times below dense",
    ),
    lambda given: [()],
    measure,
    options={"width": 256, "updates": 40, "preset": "small"},
    quick={"updates": 2},
    told=shown,
)
