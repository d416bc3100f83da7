"""How well a model predicts text: bits per byte; and what a run ends with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from marl_common import FloatArray
from mst.attention import Attention
from mst.data.sampler import cut, spread_windows
from mst.flops import attention_of
from mst.model import SparseGpt
from mst.phases import ULTRA, TopologyMoment

if TYPE_CHECKING:
    from mst.data import Corpus, Tokens
    from mst.trainer import Pretrainer

WHILE_TRAINING = 32
"""Windows of the held-out files that a point of the learning curve takes."""
AT_ONCE = 8192
"""Tokens of a batch: GPT-2's scores of so many take 1.6 GB."""


@torch.no_grad()
def bits_per_byte(
    model: SparseGpt,
    text: Tokens,
    windows: int,
    attention: Attention | None = None,
    lengths: NDArray[np.int64] | None = None,
) -> float:
    """Mean over evenly spread windows of a text, each read from its beginning.

    Args:
        model: The model.
        text: ``(N,)`` tokens, longer than a window.
        windows: How many, at most.
        attention: Its pattern; dense where None.
        lengths: ``(V,)`` bytes of each token; None where each is one.
    """
    context, device = model.shape.context, model.positions.device
    starts = spread_windows(len(text), context, windows)
    total, bytes_ = torch.zeros((), dtype=torch.float64, device=device), 0
    batch = max(1, AT_ONCE // context)
    for first in range(0, len(starts), batch):
        part = starts[first : first + batch]
        inputs, targets = cut(text, part, context, device)
        total += model.loss(inputs, targets, attention).double() * len(part)
        if lengths is not None:
            bytes_ += int(lengths[targets.cpu().numpy()].sum())
    each = 1.0 if lengths is None else bytes_ / (len(starts) * context)
    return float(total) / len(starts) / each / math.log(2)


def judged(model: SparseGpt, corpus: Corpus, windows: int) -> dict[str, float]:
    """Bits per byte on each split that is not trained on and is longer than a window."""
    return {
        name: bits_per_byte(model, text, windows, lengths=corpus.lengths)
        for name, text in corpus.texts.items()
        if name != "train" and len(text) > model.shape.context
    }


def result_of(trainer: Pretrainer, corpus: Corpus, windows: int) -> dict[str, Any]:
    """What the store keeps of a finished run."""
    config, phases = trainer.config, trainer.schedule.phases
    bits = judged(trainer.model, corpus, windows)
    pattern = attention_of(config.sparse, phases[0] if phases else None)
    text, lengths = corpus.texts["files"], corpus.lengths
    steps = [m for m in trainer.schedule.moments() if m.phase == ULTRA]
    rise = loss_rise(trainer.losses, steps)
    return {
        "samples": trainer.done * config.tokens_per_update,
        "best_value": bits["files"],
        "bpb": bits,
        "pattern_bpb": bits_per_byte(trainer.model, text, windows, pattern, lengths),
        "density": trainer.density,
        "updates": trainer.done,
        "train_loss": float(trainer.losses[-50:].mean()),
        "loss_rise": None if math.isnan(rise) else rise,
        "flops": trainer.work.theory.total,
        "executed_flops": trainer.work.executed.total,
        "training_cpu_s": trainer.cpu_s,
        "versions": dict(corpus.manifest.versions),
        "text": corpus.manifest.digest,
    }


def loss_rise(losses: FloatArray, moments: Sequence[TopologyMoment], over: int = 10) -> float:
    """Mean rise of the losses behind topology steps above those before [nat/token].

    Args:
        losses: ``(N,)`` losses of updates.
        moments: Topology steps.
        over: Losses on each side.

    Returns:
        The mean over steps that have so many on both sides; nan where none has.
    """
    rises = [
        losses[m.update + 1 : m.update + 1 + over].mean()
        - losses[m.update + 1 - over : m.update + 1].mean()
        for m in moments
        if over <= m.update + 1 <= len(losses) - over
    ]
    return float(np.mean(rises)) if rises else math.nan
