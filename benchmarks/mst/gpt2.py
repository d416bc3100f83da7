"""GPT-2's 124 M shape trained for some updates, dense and sparse.

Both arms learn the same text from the same first weights. Of `masked`, a step of the sparse phase
under masks, of `plain torch` and of nanoGPT (its `model.py`, by --nanogpt) only the step is timed.

    mst data corpus --tokenizer bpe --vocabulary 50257 --package numpy --out text
    python -m benchmarks mst.gpt2 --corpus text --device cuda --dtype bfloat16 --updates 300
"""

from __future__ import annotations

import importlib.util
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.frame import Table, shown
from benchmarks.mst.step import plain_step
from mst.arms import arm_run
from mst.config import PretrainConfig
from mst.data import Corpus
from mst.evaluating import bits_per_byte
from mst.phases import ULTRA, Phase
from mst.presets import preset
from mst.switching import dense_above
from mst.trainer import Pretrainer

MASKED, PLAIN, NANOGPT = "masked", "plain torch", "nanoGPT"
LEARNT = ("updates", "tokens", "training loss", "bits per byte", "s", "FLOPs", "executed")
"""What is known of an arm alone."""
WINDOWS = 64
WARM, TIMED = 2, 4
"""Steps before the clock starts, and steps that it times."""


def settings(given: Any, arm: str) -> PretrainConfig:
    """The preset's settings of an arm."""
    base = preset("gpt2")
    config = arm_run(arm, base.config, base.tokens).config
    compiled = arm != "dense" and given.device == "cpu"
    return replace(
        config, device=given.device, dtype=given.dtype, batch=given.batch,
        micro_batch=given.batch, repeat=True, backend="compiled" if compiled else "masked",
    )  # fmt: skip


def step_s(device: str, step: Callable[[], object]) -> float:
    """Mean time of a step [s]."""
    for _ in range(WARM):
        step()
    wait(device)
    start = time.perf_counter()
    for _ in range(TIMED):
        step()
    wait(device)
    return (time.perf_counter() - start) / TIMED


def wait(device: str) -> None:
    """Until the device has done what it was given."""
    if device == "cuda":
        torch.cuda.synchronize()


def sparse(given: Any, config: PretrainConfig) -> Callable[[], object]:
    """The step of the sparse phase."""
    phases = (Phase(ULTRA, 0.0, 1.0),)
    ultra = replace(config, sparse=replace(config.sparse, phases=phases, every=10**6))
    trainer = Pretrainer(ultra, 0, 100, given.text)
    trainer.step()  # with its topology step
    return trainer.step


def trained(given: Any, arm: str) -> tuple[Any, ...]:
    """A run of an arm, or the step of another's model."""
    if given.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    if arm in STEPS:
        took = step_s(given.device, STEPS[arm](given))
        return *("" for _ in LEARNT), f"{1e3 * took:.1f}", memory(given)
    config = settings(given, arm)
    updates = given.updates
    trainer = Pretrainer(config, 0, updates, given.text, dense_above(config))
    wait(given.device)
    start = time.perf_counter()
    while trainer.done < updates:
        trainer.step()
    wait(given.device)
    seconds = time.perf_counter() - start
    bits = bits_per_byte(
        trainer.model, given.text.texts["files"], WINDOWS, lengths=given.text.lengths
    )
    work, tokens = trainer.work, updates * config.tokens_per_update
    ends = (f"{trainer.losses[-20:].mean():.3f}", f"{bits:.3f}", f"{seconds:.1f}")
    flops = (f"{work.theory.total:.3e}", f"{work.executed.total:.3e}")
    return updates, tokens, *ends, *flops, f"{1e3 * seconds / updates:.1f}", memory(given)


def memory(given: Any) -> str:
    """The most that was held, on a GPU by tensors [GB]."""
    if given.device == "cuda":
        return f"{torch.cuda.max_memory_allocated() / 1e9:.1f}"
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f}"


def precision(given: Any) -> torch.autocast:
    """What products are computed in."""
    return torch.autocast(given.device, torch.bfloat16, enabled=given.dtype == "bfloat16")


def plain(given: Any) -> Callable[[], object]:
    """The step of the same model in torch.nn, with its AdamW."""
    step = plain_step(Pretrainer(settings(given, "dense"), 0, 100, given.text))

    def mixed() -> None:
        with precision(given):
            step()

    return mixed


def nanogpt(given: Any) -> Callable[[], object]:
    """The step of nanoGPT's GPT, with the optimiser that it makes."""
    spec = importlib.util.spec_from_file_location("nanogpt_model", given.nanogpt)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.GPT(module.GPTConfig(dropout=0.0, bias=False)).to(given.device)
    adam = model.configure_optimizers(0.1, 6e-4, (0.9, 0.95), given.device)
    tokens = torch.randint(0, 50_257, (given.batch, 1_025), device=given.device)
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def step() -> None:
        with precision(given):
            _, loss = model(inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)

    return step


STEPS: dict[str, Callable[[Any], Callable[[], object]]] = {
    MASKED: lambda given: sparse(given, replace(settings(given, "mst"), backend="masked")),
    PLAIN: plain,
    NANOGPT: nanogpt,
}
"""What only shows its step."""


def keys(given: Any) -> Iterator[tuple[str, str, str, int]]:
    """The arms, and what they are held beside."""
    given.text = Corpus.open(given.corpus)
    name = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    for arm in given.arms:
        if arm != NANOGPT or given.nanogpt:
            yield arm, name, given.dtype, given.batch


TABLE = Table(
    __doc__,
    (
        *("arm", "device", "dtype", "windows"),
        *LEARNT,
        *("ms an update", "GB"),
    ),
    keys,
    lambda given, arm, *_: trained(given, arm),
    "mst-gpt2.csv",
    {
        "arms": ["dense", "mst", *STEPS],
        "corpus": Path("mst-data"),
        "device": "cpu",
        "dtype": "float32",
        "batch": (16, "windows of an update"),
        "updates": (300, "of an arm"),
        "nanogpt": (Path, "its model.py"),
    },
    {"updates": 2, "batch": 1, "arms": [PLAIN]},
    shown,
)
