"""What critics say of an agent's own action, and how steeply it rises: no gradient of the critics.

A policy's loss needs the value of its action and the slope along it, nothing of the critics
themselves. Both are worked out forwards, one critic after the other, so that what lies between two
layers stays in the cache and is written in place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mpe_marl.learners import nets
from mpe_marl.learners.products import product


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, change: Tensor, h: Tensor, shift: Tensor, columns: Tensor, layers: nets.Layers
    ) -> Tensor:
        (agents, twins), size = columns.shape[:2], change.shape[1]
        value = change.new_empty((agents * twins, size))
        slope = change.new_empty((agents * twins, size, change.shape[2]))
        w2, b2, w3, b3 = (p.unbind() for p in layers[2:])
        one = h.new_empty((size, h.shape[2]))
        for m in range(agents * twins):
            own, move, k = columns[m // twins, m % twins], change[m // twins], m % len(w2)
            torch.add(h[m % len(h)], shift[m], out=one).addmm_(move, own).relu_()
            two = product(one, w2[k], b2[k], relu=True)
            torch.addmv(b3[k].expand(size), two, w3[k][:, 0], out=value[m])
            two.sign_().mul_(w3[k][:, 0])  # the slope where the layer is not zero
            back = product(two, w2[k].t()).mul_(one.sign_())
            slope[m] = product(back, own.t())
        ctx.save_for_backward(slope)
        ctx.agents = agents
        return value

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        (slope,) = ctx.saved_tensors
        weighted = gradients[0].unsqueeze(2) * slope
        return weighted.view(ctx.agents, -1, *slope.shape[1:]).sum(1), None, None, None, None


def value_of(
    change: Tensor, h: Tensor, shift: Tensor | None, columns: Tensor, layers: nets.Layers
) -> Tensor:
    """Values of replaced actions, differentiable in the change alone.

    Replacing an agent's action moves its critics' first layer by the change times that action's
    rows of the weights, so the rest of the layer is computed once.

    Args:
        change: ``(G, B, A)`` new minus stored actions.
        h: ``(G * twins, B, hidden)`` first layers on what was stored; or fewer, in turn.
        shift: ``(G * twins, hidden)`` added to them.
        columns: ``(G, twins, A, hidden)`` rows of the first layers for the own action.
        layers: The critics, ``(G * twins, ...)``; or fewer, in turn.

    Returns:
        ``(G, twins, B)``.
    """
    if shift is None:
        shift = h.new_zeros((len(h), h.shape[2]))
    value: Tensor = _Value.apply(change, h, shift, columns, layers)  # type: ignore[no-untyped-call]
    return value.view(*columns.shape[:2], -1)
