"""The layers after the first one, an agent at a time: what lies between them stays in the cache.

PyTorch's stacked products go over all agents' rows once for every operation, forwards and
backwards, which for a dozen agents is megabytes each time. One agent's rows fit in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_unless_cut = torch.ops.aten.threshold_backward.grad_input


class _Rest(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, shift: Tensor, *layers: Tensor) -> Tensor:
        count, (_, size, hidden) = len(shift), h.shape
        one, two = h.new_empty((count, size, hidden)), h.new_empty((count, size, hidden))
        out = h.new_empty((count, size, layers[2].shape[2]))
        _forward(h, shift, layers, one.unbind(), two.unbind(), out.unbind())
        ctx.save_for_backward(one, two, layers[0], layers[2])
        ctx.inputs = len(h)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        one, two, w2, w3 = ctx.saved_tensors
        slopes, kinds = gradients[0].unbind(), len(w2)
        dh = one.new_zeros((ctx.inputs, *one.shape[1:]))
        dshift = one.new_empty((len(one), one.shape[2]))
        dw2, dw3 = torch.zeros_like(w2), torch.zeros_like(w3)
        db2, db3 = w2.new_zeros((kinds, w2.shape[2])), w3.new_zeros((kinds, w3.shape[2]))
        middle, down = torch.empty_like(two[0]), torch.empty_like(one[0])
        for m, (first, second, slope) in enumerate(
            zip(one.unbind(), two.unbind(), slopes, strict=True)
        ):
            k = m % kinds
            dw3[k].addmm_(second.t(), slope)
            db3[k] += slope.sum(0)
            torch.mm(slope, w3[k].t(), out=middle)
            _unless_cut(middle, second, 0, grad_input=middle)
            dw2[k].addmm_(first.t(), middle)
            db2[k] += middle.sum(0)
            torch.mm(middle, w2[k].t(), out=down)
            _unless_cut(down, first, 0, grad_input=down)
            dh[m % ctx.inputs] += down
            torch.sum(down, 0, out=dshift[m])
        return dh, dshift, dw2, db2, dw3, db3


def _forward(
    h: Tensor,
    shift: Tensor,
    layers: Sequence[Tensor],
    one: Sequence[Tensor],
    two: Sequence[Tensor],
    out: Sequence[Tensor],
) -> None:
    """Write both hidden layers and the output of each of ``M`` networks."""
    w2, b2, w3, b3 = (p.unbind() for p in layers)
    rows, kinds = h.unbind(), len(w2)
    for m, moved in enumerate(shift.unbind()):
        k, first, second = m % kinds, one[m % len(one)], two[m % len(two)]
        torch.add(rows[m % len(rows)], moved, out=first).relu_()
        torch.addmm(b2[k], first, w2[k], out=second).relu_()
        torch.addmm(b3[k], second, w3[k], out=out[m])


def rest(h: Tensor, shift: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """Two layers on the first one's output, which the ReLU still awaits.

    What has fewer than ``M`` entries is taken in turn: one network for all, or a pair of them.

    Args:
        h: ``(K, B, hidden)`` outputs of the first layer.
        shift: ``(M, hidden)`` added to them.
        layers: ``w2 (L, hidden, hidden)``, ``b2 (L, hidden)``, ``w3 (L, hidden, out)``, ``b3``.

    Returns:
        ``(M, B, out)``.
    """
    if torch.is_grad_enabled():
        found: Tensor = _Rest.apply(h, shift, *layers)  # type: ignore[no-untyped-call]
        return found
    one, two = h.new_empty((2, *h.shape[1:]))
    out = h.new_empty((len(shift), h.shape[1], layers[2].shape[2]))
    _forward(h, shift, layers, [one], [two], out.unbind())
    return out
