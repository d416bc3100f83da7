"""GPT-2's 124 M shape trained for as many updates as some seconds allow, dense and sparse.

Both arms learn the same text from the same first weights. Of `masked`, a step of the sparse phase
under masks, of `plain torch` and of nanoGPT (its `model.py`, by --nanogpt) only the step is timed.

    mst data corpus --tokenizer bpe --vocabulary 50257 --package numpy --out text
    python -m benchmarks mst.gpt2 --corpus text --device cuda --dtype bfloat16 --seconds 60
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
    start = clock(device)
    for _ in range(TIMED):
        step()
    return (clock(device) - start) / TIMED


def clock(device: str) -> float:
    """Time of the processor's one thread, or of a GPU when it has done what it was given [s]."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def updates_in(given: Any, config: PretrainConfig, above: dict[str, float]) -> int:
    """How many updates of a run the seconds allow, by steps of its sparse and dense phases."""
    dense = replace(config, sparse=replace(config.sparse, phases=()), backend="masked")
    taken = step_s(given.device, Pretrainer(dense, 0, 100, given.text).step)
    if config.sparse.phases:
        share = sum(p.end - p.start for p in config.sparse.phases if p.name == ULTRA)
        taken += share * (step_s(given.device, sparse(given, config, above)) - taken)
    return max(20, round(given.seconds / taken))


def sparse(
    given: Any, config: PretrainConfig, above: dict[str, float] | None = None
) -> Callable[[], object]:
    """The step of the sparse phase."""
    phases = (Phase(ULTRA, 0.0, 1.0),)
    ultra = replace(config, sparse=replace(config.sparse, phases=phases, every=10**6))
    trainer = Pretrainer(ultra, 0, 100, given.text, above)
    trainer.step()  # with its topology step
    return trainer.step


def trained(given: Any, arm: str) -> tuple[Any, ...]:
    """A run of an arm, or the step of another's model."""
    if given.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    elif (peak := Path("/proc/self/clear_refs")).exists():  # Linux
        peak.write_text("5")  # from now on it is this arm's
    if arm in STEPS:
        took = step_s(given.device, STEPS[arm](given))
        return *("" for _ in LEARNT), f"{1e3 * took:.1f}", memory(given)
    config = settings(given, arm)
    above = dense_above(config)
    updates = given.updates or updates_in(given, config, above)
    trainer = Pretrainer(config, 0, updates, given.text, above)
    start = clock(given.device)
    while trainer.done < updates:
        trainer.step()
    seconds = clock(given.device) - start
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
    torch.set_num_threads(1)
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
        "seconds": (2400.0, "of training an arm"),
        "updates": (0, "of an arm, in place of the seconds"),
        "nanogpt": (Path, "its model.py"),
    },
    {"seconds": 1.0, "batch": 1, "arms": [PLAIN]},
    shown,
)
