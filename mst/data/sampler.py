"""Which windows of the text an update learns from: each once, in an order drawn for the epoch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from runs import make_generator

BATCHES = 1
"""What the generator is drawn for."""


class Sampler:
    """Batches that follow from text, seed and number of the update alone.

    An epoch cuts the text into windows at a place drawn for it, and takes them in an order drawn
    for it; nothing has to be kept to go on.

    Args:
        text: ``(N,)`` uint8.
        context: T.
        batch: Windows of an update.
        seed: The seed.
        device: Where batches are made.
    """

    def __init__(
        self,
        text: NDArray[np.uint8],
        context: int,
        batch: int,
        seed: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self._text = torch.from_numpy(text).to(device)
        self._context, self._batch, self._seed = context, batch, seed
        self._windows = (len(text) - context) // context
        self._reach = torch.arange(context + 1, device=device)
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
        return cut(self._text, torch.cat(starts), self._reach)

    def _drawn(self, epoch: int) -> Tensor:
        """First places of an epoch's windows, in its order."""
        rng = make_generator(self._seed, BATCHES, epoch)
        shift = int(rng.integers(0, self._context))
        starts = rng.permutation(self._windows) * self._context + shift
        return torch.from_numpy(starts).to(self._text.device)


def cut(text: Tensor, starts: Tensor, reach: Tensor) -> tuple[Tensor, Tensor]:
    """Windows of a text, and the same one further: two ``(B, T)`` int64.

    Args:
        text: ``(N,)`` uint8.
        starts: ``(B,)`` first places.
        reach: ``(T + 1,)`` 0 to T.
    """
    windows = text[starts[:, None] + reach].long()
    return windows[:, :-1], windows[:, 1:]


def spread_windows(length: int, context: int, count: int) -> NDArray[np.int64]:
    """First places of at most `count` windows, evenly spread over a text of so many bytes."""
    there = max(1, (length - 1) // context)
    last = max(0, length - context - 1)
    return np.linspace(0, last, min(count, there)).astype(np.int64)
