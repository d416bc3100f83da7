"""Processor time of whole runs: the dense run, masks alone, and the compiled kernels.

The runs take turns, an update each, so that what else the machine does falls on all of them; the
phases are the preset's, over fewer updates. Evaluation is not part of it.

    python benchmarks/mst/time.py --width 256 --updates 40 --json time.json
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from step import noise

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


def measure(width: int, updates: int) -> list[dict[str, Any]]:
    """One row a run: processor time of all updates [s], and times below the dense run's."""
    base = preset("small").config
    base = replace(base, shape=replace(base.shape, width=width))
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
    dense = trainers["dense"]
    return [
        {
            "run": name,
            "width": width,
            "updates": updates,
            "cpu_s": trainer.cpu_s,
            "times below dense": dense.cpu_s / trainer.cpu_s,
            "counted, times below dense": dense.work.theory.total / trainer.work.theory.total,
            "executed, times below dense": dense.work.executed.total / trainer.work.executed.total,
            "density at the end": trainer.density,
        }
        for name, trainer in trainers.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(arguments.width, arguments.updates)
    for row in rows:
        print(
            f"{row['run']}: {row['cpu_s']:.1f} s, {row['times below dense']:.2f}x less than dense "
            f"(counted {row['counted, times below dense']:.2f}x, executed "
            f"{row['executed, times below dense']:.2f}x)",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
