"""What a training run is made of: model, masks, optimiser, learning rates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from mst.config import AdamSettings, PretrainConfig
from mst.model import SparseGpt
from sparse_training import SparseAdam, Sparsifier


def state_law(config: PretrainConfig) -> str:
    """What new weights begin with."""
    return "keep" if config.sparse.faithful else config.sparse.optimizer_state


def make_model(config: PretrainConfig, seed: int, device: torch.device) -> SparseGpt:
    """The model with its first weights."""
    return SparseGpt(
        config.shape, seed, mask_head=config.sparse.mask_head, backend=config.backend,
        patterns=config.patterns, device=device,
    )  # fmt: skip


def make_masks(
    config: PretrainConfig, model: SparseGpt, density: float, seed: int
) -> Sparsifier | None:
    """The masks of a density, attached; None in a dense run."""
    if not config.sparse.phases:
        return None
    settings = config.sparse.masks()
    settings = replace(settings, sparsity=1 - density, optimizer_state=state_law(config))
    masks = Sparsifier(model.sparse_layers(), settings, seed=seed)
    masks.attach()
    return masks


def make_optimizer(config: PretrainConfig, model: SparseGpt) -> SparseAdam:
    """AdamW whose decay takes matrices alone; sparse weights are a group of their own."""
    adam = config.adam
    sparse = [layer.weight for layer in model.sparse_layers().values()]
    chosen = {id(weight) for weight in sparse}
    others = [p for p in model.parameters() if id(p) not in chosen]
    groups = [
        {"params": sparse, "weight_decay": adam.weight_decay},
        {"params": [p for p in others if p.dim() > 1], "weight_decay": adam.weight_decay},
        {"params": [p for p in others if p.dim() == 1], "weight_decay": 0.0},
    ]
    return SparseAdam(groups, lr=adam.lr, betas=adam.betas, clip=adam.clip, state=state_law(config))


def loss_of(model: SparseGpt, compiled: bool) -> Callable[..., Tensor]:
    """The model's loss, translated by torch.compile if wanted."""
    if not compiled:
        return model.loss
    # cached functions of attention are pure, so that tracing through them changes nothing
    warnings.filterwarnings("ignore", "Dynamo detected a call to a `functools.lru_cache`")
    return torch.compile(model.loss)


def learning_rate(adam: AdamSettings, update: int, updates: int) -> float:
    """Learning rate of an update: a linear rise, then a fall to its floor by its law."""
    rise = max(1, round(adam.warm_up * updates))
    if update < rise:
        return adam.lr * (update + 1) / rise
    if adam.law == "trapezoid":
        falling = max(1, round(adam.decay * updates))
        high = min(1.0, (updates - update) / (falling + 1))
    else:
        share = (update - rise) / max(1, updates - rise)
        high = (1 + math.cos(math.pi * share)) / 2
    return adam.lr * (adam.floor + (1 - adam.floor) * high)
