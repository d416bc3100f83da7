"""Which windows of the text an update learns from: each once, in an order drawn for the epoch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from marl_runs import make_generator
from mst.data.shards import Tokens

BATCHES = 1
"""What the generator is drawn for."""


class Sampler:
    """Batches that follow from text, seed and number of the update alone.

    An epoch cuts the text into windows at a place drawn for it, and takes them in an order drawn
    for it; nothing has to be kept to go on.

    Args:
        text: ``(N,)`` tokens; stays where it is, on a disk or in memory.
        context: T.
        batch: Windows of an update.
        seed: The seed.
        device: Where batches go.
    """

    def __init__(
        self,
        text: Tokens,
        context: int,
        batch: int,
        seed: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self._text, self._device = text, device
        self._context, self._batch, self._seed = context, batch, seed
        self._windows = (len(text) - context) // context
        self._order = lru_cache(maxsize=2)(self._drawn)

    def batch(self, update: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of an update, counted from 0: two ``(batch, T)`` int64."""
        first = update * self._batch
        starts, taken = [], 0
        while taken < self._batch:
            epoch, place = divmod(first + taken, self._windows)
            part = self._order(epoch)[place : place + self._batch - taken]
            starts.append(part)
            taken += len(part)
        return cut(self._text, np.concatenate(starts), self._context, self._device)

    def _drawn(self, epoch: int) -> NDArray[np.int64]:
        """First places of an epoch's windows, in its order."""
        rng = make_generator(self._seed, BATCHES, epoch)
        shift = int(rng.integers(0, self._context))
        return rng.permutation(self._windows) * self._context + shift


def cut(
    text: Tokens, starts: NDArray[np.int64], context: int, device: str | torch.device = "cpu"
) -> tuple[Tensor, Tensor]:
    """Windows of a text, and the same one further: two ``(B, T)`` int64.

    Args:
        text: ``(N,)`` tokens.
        starts: ``(B,)`` first places.
        context: T.
        device: Where they go.
    """
    found = text[starts[:, None] + np.arange(context + 1)].astype(np.int64)
    windows = torch.from_numpy(found).to(device)
    return windows[:, :-1], windows[:, 1:]


def spread_windows(length: int, context: int, count: int) -> NDArray[np.int64]:
    """First places of at most `count` windows, evenly spread over a text of so many tokens."""
    there = max(1, (length - 1) // context)
    last = max(0, length - context - 1)
    return np.linspace(0, last, min(count, there)).astype(np.int64)
