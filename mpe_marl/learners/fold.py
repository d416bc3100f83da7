"""Folding a first layer onto the world state.

Observations are a fixed linear map of the state, each a difference of two of its entries, ``o = s
M``. So a layer on all observations is one on the state: ``o W = s (M W)``. The state is ``N``
times smaller than the observations together, and ``M W`` costs one pass over ``W``. Exact up to
rounding; the gradient is ``M^T`` times that of ``M W``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from marl_common import compiled
from mpe_marl.worlds.spec import WorldSpec

_CHUNK = 512  # columns at a time, so that the folded rows stay in the cache


class Fold:
    """The map from state to observations, applied to weights.

    Args:
        spec: The world.
        device: Where the weights live.
    """

    def __init__(self, spec: WorldSpec, device: torch.device) -> None:
        n, d, s = spec.n_agents, spec.obs_dim, spec.state_dim
        self._n, self._s = n, s
        firsts, seconds = spec.observation_terms.reshape(2, n * d).astype(np.int64)
        self._all = _Terms(firsts, seconds, s, device)
        # each agent its own copy of the state's rows and of the row that stands for zero
        own = np.repeat(np.arange(n) * s, d)
        rows = [np.where(t == s, n * s, own + t) for t in (firsts, seconds)]
        self._each = _Terms(rows[0], rows[1], n * s, device)

    def all(self, weight: Tensor) -> Tensor:
        """Fold layers on all observations and actions.

        Args:
            weight: ``(N * D + K, M, hidden)``; the last ``K`` rows are for actions.

        Returns:
            ``(S + K, M, hidden)``.
        """
        return _apply(weight.flatten(1), self._all).view(-1, *weight.shape[1:])

    def each(self, weight: Tensor) -> Tensor:
        """Fold each agent's layer on its own: ``(N, D, hidden)`` to ``(S, N, hidden)``."""
        folded = _apply(weight.flatten(0, 1), self._each)
        return folded.view(self._n, self._s, -1).transpose(0, 1)


class _Terms:
    """Rows of the state that each observation adds and subtracts; ``size`` stands for none."""

    def __init__(
        self, firsts: NDArray[np.int64], seconds: NDArray[np.int64], size: int, device: torch.device
    ) -> None:
        self.arrays = (firsts, seconds)
        self.indices = tuple(torch.from_numpy(t).to(device) for t in self.arrays)
        self.size = size
        self.compiled = device.type == "cpu"

    def fold(self, weight: Tensor) -> Tensor:
        """``(F + K, C)`` to ``(size + K, C)``."""
        width = len(self.arrays[0])
        out = weight.new_zeros((self.size + len(weight) - width, weight.shape[1]))
        if self.compiled:
            _fold(weight.contiguous().numpy(), *self.arrays, self.size, out.numpy())
        else:
            head = weight.new_zeros((self.size + 1, weight.shape[1]))
            head.index_add_(0, self.indices[0], weight[:width])
            head.index_add_(0, self.indices[1], weight[:width], alpha=-1)
            out[: self.size] = head[:-1]
        out[self.size :] = weight[width:]
        return out

    def unfold(self, folded: Tensor) -> Tensor:
        """The transpose: ``(size + K, C)`` to ``(F + K, C)``."""
        width = len(self.arrays[0])
        out = folded.new_empty((width + len(folded) - self.size, folded.shape[1]))
        if self.compiled:
            _unfold(folded.contiguous().numpy(), *self.arrays, self.size, out.numpy())
        else:
            head = torch.cat([folded[: self.size], folded.new_zeros((1, folded.shape[1]))])
            out[:width] = head[self.indices[0]] - head[self.indices[1]]
        out[width:] = folded[self.size :]
        return out


@compiled
def _fold(
    weight: NDArray[Any],
    firsts: NDArray[np.int64],
    seconds: NDArray[np.int64],
    size: int,
    out: NDArray[Any],
) -> None:
    """Add and subtract rows of the weights into zeroed rows of the state."""
    for start in range(0, weight.shape[1], _CHUNK):
        stop = min(start + _CHUNK, weight.shape[1])
        for f in range(len(firsts)):
            if firsts[f] < size:
                for c in range(start, stop):
                    out[firsts[f], c] += weight[f, c]
            if seconds[f] < size:
                for c in range(start, stop):
                    out[seconds[f], c] -= weight[f, c]


@compiled
def _unfold(
    folded: NDArray[Any],
    firsts: NDArray[np.int64],
    seconds: NDArray[np.int64],
    size: int,
    out: NDArray[Any],
) -> None:
    """Differences of rows of the state, one for each observation."""
    for f in range(len(firsts)):
        if firsts[f] == size:
            out[f] = 0.0
        elif seconds[f] == size:
            out[f] = folded[firsts[f]]
        else:
            for c in range(folded.shape[1]):
                out[f, c] = folded[firsts[f], c] - folded[seconds[f], c]


def _apply(weight: Tensor, terms: _Terms) -> Tensor:
    result: Tensor = _Folded.apply(weight, terms)  # type: ignore[no-untyped-call]  # torch has no type
    return result


class _Folded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, terms: _Terms) -> Tensor:
        ctx.terms = terms
        return terms.fold(weight.detach())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.terms.unfold(gradients[0]), None
