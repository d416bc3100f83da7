"""How long a training step takes in the sparse phase, against dense torch, on one thread.

Plain torch (rows first, `torch.nn` layers, `torch.optim.AdamW`), our dense model, masks, and the
compiled kernels take turns, a step each; of each the fastest processor time counts.

    python -m benchmarks mst.step
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch

from benchmarks.frame import Table, in_turns, shown
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


def measure(given: Any, width: int, sparsity: float) -> tuple[str, ...]:
    """Processor time of a step of each variant [ms], and times below the faster dense one."""
    steps: dict[str, Callable[[], None]] = {}
    for variant in VARIANTS:
        trainer = Pretrainer(config_of(variant, width, sparsity), 0, 10**4, given.corpus)
        steps[variant] = plain_step(trainer) if variant == "plain" else trainer.step
        for _ in range(2):
            steps[variant]()
    best = {name: 1e3 * min(taken) for name, taken in in_turns(steps, given.rounds).items()}
    dense = min(best["plain"], best["dense"])
    ratios = (f"{dense / best[variant]:.2f}" for variant in SPARSE)
    return *(f"{ms:.0f}" for ms in best.values()), *ratios


def keys(given: Any) -> Iterator[tuple[int, float]]:
    """Widths and sparsities, on one thread."""
    torch.set_num_threads(1)
    given.corpus = noise(2_000_000)
    yield from product(given.widths, given.sparsities)


SPARSE = VARIANTS[2:]
TABLE = Table(
    __doc__,
    (
        *("width", "S", "plain torch [ms]", "our dense [ms]", *(f"{v} [ms]" for v in SPARSE)),
        *(f"{v}, times faster" for v in SPARSE),
    ),
    keys,
    measure,
    "mst-step.csv",
    {"widths": [128, 256], "sparsities": [0.8, 0.9], "rounds": 7},
    {"rounds": 1},
    shown,
)
