"""Forward passes through the networks of a bank.

``layers`` is always six tensors: three weights, three biases.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mpe_marl.learners import cached
from mpe_marl.learners.products import layer, product

Layers = Sequence[Tensor]


def plain(layers: Layers, x: Tensor) -> Tensor:
    """One network on ``(B, in)`` rows; returns ``(B, out)``."""
    w1, b1, w2, b2, w3, b3 = layers
    h = torch.addmm(b1, x, w1).relu()
    return torch.addmm(b3, torch.addmm(b2, h, w2).relu(), w3)


def first(layers: Layers, x: Tensor) -> Tensor:
    """First layer of ``M`` networks, each on its own ``(M, B, in)`` rows; ``(M, B, hidden)``.

    On the processor without gradients, one network after the other.
    """
    weight, bias = layers[:2]
    if x.device.type == "cpu":
        return torch.stack([product(*one) for one in zip(x, weight, bias, strict=True)])
    return torch.baddbmm(bias.unsqueeze(1), x, weight)


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
    h = layer(x, weight.reshape(len(weight), -1), bias.reshape(-1))
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


def own(layers: Layers, x: Tensor, shift: Tensor | None = None) -> Tensor:
    """``M`` networks, each on its own ``(M, B, in)`` rows; ``(M, B, out)``.

    There may be fewer networks, which then are taken in turn; a shift ``(M, hidden)`` is added to
    the first layer's output.
    """
    if x.device.type == "cpu":
        none = x.new_zeros((len(x), layers[1].shape[1])) if shift is None else shift
        return cached.own(x, none, layers)
    weight, bias = (p.repeat(len(x) // len(p), *[1] * (p.dim() - 1)) for p in layers[:2])
    return rest(layers, first((weight, bias), x), shift)
