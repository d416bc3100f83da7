"""How long a training step takes in the sparse phase, against dense torch, on one thread.

Plain torch (rows first, `torch.nn` layers, `torch.optim.AdamW`), our dense model, masks, and the
compiled kernels take turns, a step each; of each the fastest processor time counts.

    python benchmarks/mst/step.py --json step.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mst.config import PretrainConfig
from mst.data.corpus import Corpus
from mst.data.manifest import Manifest
from mst.data.tokenizer import ByteTokenizer
from mst.phases import ULTRA, Phase
from mst.plain import PlainGpt
from mst.presets import preset
from mst.trainer import Pretrainer

VARIANTS = ("plain", "dense", "masked", "free", "block4")


def noise(size: int) -> Corpus:
    """A corpus of random bytes: time does not depend on what they say."""
    text = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    return Corpus(Manifest({}, {}, 0), {"train": text}, ByteTokenizer())


def config_of(variant: str, width: int, sparsity: float) -> PretrainConfig:
    """Settings of a run that is in the sparse phase throughout."""
    base = preset("small").config
    shape = replace(base.shape, width=width)
    if variant in ("plain", "dense"):
        return replace(base, shape=shape, sparse=replace(base.sparse, sparsity=0.0, phases=()))
    sparse = replace(
        base.sparse, sparsity=sparsity, phases=(Phase(ULTRA, 0.0, 1.0),), every=10**6,
        unit="block4" if variant == "block4" else "free",
    )  # fmt: skip
    backend = "masked" if variant == "masked" else "compiled"
    return replace(base, shape=shape, sparse=sparse, backend=backend)


def plain_step(trainer: Pretrainer) -> Callable[[], None]:
    """A step of the same model, data and optimiser as torch has them."""
    model = PlainGpt(trainer.model)
    adam = trainer.config.adam
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=adam.lr, betas=adam.betas, weight_decay=adam.weight_decay
    )
    done = iter(range(10**9))

    def step() -> None:
        inputs, targets = trainer._sampler.batch(next(done))
        optimizer.zero_grad()
        model.loss(inputs, targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), adam.clip)
        optimizer.step()

    return step


def measure(width: int, sparsity: float, rounds: int, corpus: Corpus) -> dict[str, Any]:
    """Processor time of a step of each variant [ms], and times below the faster dense one."""
    steps: dict[str, Callable[[], None]] = {}
    for variant in VARIANTS:
        trainer = Pretrainer(config_of(variant, width, sparsity), 0, 10**4, corpus)
        steps[variant] = plain_step(trainer) if variant == "plain" else trainer.step
        for _ in range(2):
            steps[variant]()
    times: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(rounds):
        for variant, step in steps.items():
            start = time.process_time()
            step()
            times[variant].append(time.process_time() - start)
    best = {variant: 1e3 * min(found) for variant, found in times.items()}
    dense = min(best["plain"], best["dense"])
    ratios = {variant: dense / best[variant] for variant in VARIANTS}
    return {"width": width, "sparsity": sparsity, "ms": best, "times_faster": ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[128, 256])
    parser.add_argument("--sparsities", type=float, nargs="+", default=[0.8, 0.9])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    corpus, rows = noise(2_000_000), []
    for width in arguments.widths:
        for sparsity in arguments.sparsities:
            rows.append(measure(width, sparsity, arguments.rounds, corpus))
            row = rows[-1]
            shown = "  ".join(
                f"{v} {row['ms'][v]:.0f} ms ({row['times_faster'][v]:.2f}x)" for v in VARIANTS
            )
            print(f"d{width} S {sparsity}: {shown}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
