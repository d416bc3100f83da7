"""Forward passes through the networks of a bank.

``layers`` is always six tensors: three weights, three biases.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mpe_marl.learners import cached

Layers = Sequence[Tensor]
_CACHED = 2**20  # bytes of a hidden layer held at once


def plain(layers: Layers, x: Tensor) -> Tensor:
    """One network on ``(B, in)`` rows; returns ``(B, out)``."""
    w1, b1, w2, b2, w3, b3 = layers
    h = torch.addmm(b1, x, w1).relu()
    return torch.addmm(b3, torch.addmm(b2, h, w2).relu(), w3)


def first(layers: Layers, x: Tensor) -> Tensor:
    """First layer of ``M`` networks, each on its own ``(M, B, in)`` rows; ``(M, B, hidden)``."""
    return torch.baddbmm(layers[1].unsqueeze(1), x, layers[0])


def first_wide(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
    """First layer of ``M`` networks on the same rows, as one product.

    Args:
        weight: ``(in, M, hidden)``.
        bias: ``(M, hidden)``.
        x: ``(B, in)``.

    Returns:
        ``(M, B, hidden)``.
    """
    m, hidden = bias.shape
    h = torch.addmm(bias.reshape(-1), x, weight.reshape(len(weight), -1))
    return h.view(len(x), m, hidden).transpose(0, 1)


def rest(layers: Layers, h: Tensor, shift: Tensor | None = None) -> Tensor:
    """Remaining layers on the first one's output.

    Args:
        layers: ``(M, ...)``; or fewer, which then are taken in turn.
        h: ``(M, B, hidden)``; or fewer, if there is a shift.
        shift: ``(M, hidden)`` added to ``h``.

    Returns:
        ``(M, B, out)``.
    """
    if h.device.type == "cpu":
        none = h.new_zeros((len(h), h.shape[2])) if shift is None else shift
        return cached.rest(h, none, layers[2:])
    if shift is not None:
        h = h.repeat(len(shift) // len(h), 1, 1) + shift.unsqueeze(1)
    w2, b2, w3, b3 = (p.repeat(len(h) // len(p), *[1] * (p.dim() - 1)) for p in layers[2:])
    return last(w3, b3, torch.baddbmm(b2.unsqueeze(1), h.relu(), w2).relu())


def last(weight: Tensor, bias: Tensor, h: Tensor) -> Tensor:
    """Last layer of ``M`` networks.

    A column of weights is multiplied and summed, which forwards and backwards takes a fraction of
    the time of PyTorch's products with a matrix of one column.
    """
    if weight.shape[2] == 1:
        return (h * weight.transpose(1, 2)).sum(2, keepdim=True) + bias.unsqueeze(1)
    return torch.baddbmm(bias.unsqueeze(1), h, weight)


def own(layers: Layers, x: Tensor) -> Tensor:
    """``M`` networks, each on its own ``(M, B, in)`` rows; ``(M, B, out)``."""
    return rest(layers, first(layers, x))


def rest_of(layers: Layers, h: Tensor) -> Tensor:
    """As :func:`rest`, of an ``h`` that nobody needs afterwards and without gradients."""
    _, _, w2, b2, w3, b3 = layers
    return last(w3, b3, torch.baddbmm(b2.unsqueeze(1), h.relu_(), w2).relu_())


def own_of(layers: Layers, x: Tensor) -> Tensor:
    """As :func:`own`, without gradients, a few rows at a time.

    What lies between two layers then stays in the cache, and no new memory is asked of the system.
    """
    rows = max(64, _CACHED // (x.element_size() * layers[1].numel()))
    parts = [rest_of(layers, first(layers, x[:, k : k + rows])) for k in range(0, x.shape[1], rows)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)
