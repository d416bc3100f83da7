"""Networks an agent at a time: what lies between two layers stays in the cache.

PyTorch's stacked products go over all agents' rows once for every operation, forwards and
backwards, which for a dozen agents is megabytes each time. One agent's rows fit in the cache.

What has fewer entries than there are agents is taken in turn: one network for all, or a pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from mpe_marl.learners.products import product, slopes

_unless_cut = torch.ops.aten.threshold_backward.grad_input
Kept = list[Tensor]
"""Both hidden layers of every network in turn, as backwards passes need them."""


class _Tail:
    """Gradients of the second and the third layers, summed over agents."""

    def __init__(self, w2: Tensor, w3: Tensor) -> None:
        self.w2, self.w3, self.kinds = w2, w3, len(w2)
        self.sums = (
            torch.zeros_like(w2), w2.new_zeros((self.kinds, w2.shape[2])),
            torch.zeros_like(w3), w3.new_zeros((self.kinds, w3.shape[2])),
        )  # fmt: skip

    def add(self, m: int, first: Tensor, second: Tensor, after: Tensor) -> Tensor:
        """Add what network ``m`` gives; returns ``(B, hidden)``, the slope under its first ReLU."""
        k = m % self.kinds
        dw2, db2, dw3, db3 = (total[k] for total in self.sums)
        dw3 += torch.mm(after.t(), second).t()
        db3 += after.sum(0)
        middle = torch.mm(after, self.w3[k].t())
        _unless_cut(middle, second, 0, grad_input=middle)
        dw2 += slopes(first, middle)
        db2 += middle.sum(0)
        down = product(middle, self.w2[k].t())
        _unless_cut(down, first, 0, grad_input=down)
        return down


class _Rest(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, shift: Tensor, *layers: Tensor) -> Tensor:
        kept: Kept = []
        out = _rest(h, shift, layers, kept)
        ctx.save_for_backward(*kept, layers[0], layers[2])
        ctx.h = torch.empty_like(h, device="meta")  # how it lies in memory
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        *kept, w2, w3 = ctx.saved_tensors
        tail, inputs = _Tail(w2, w3), len(ctx.h)
        dh = torch.empty_like(ctx.h, device=w2.device)
        dshift = w2.new_empty((len(kept) // 2, w2.shape[1]))
        for m, after in enumerate(gradients[0].unbind()):
            down = tail.add(m, kept[2 * m], kept[2 * m + 1], after)
            torch.sum(down, 0, out=dshift[m])
            if m < inputs:
                dh[m] = down
            else:
                dh[m % inputs] += down
        return dh, dshift, *tail.sums


class _Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, shift: Tensor, *layers: Tensor) -> Tensor:
        kept: Kept = []
        out = _own(x, shift, layers, kept)
        ctx.save_for_backward(*kept, x, layers[0], layers[2], layers[4])
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *kept, x, w1, w2, w3 = ctx.saved_tensors
        tail, dw1 = _Tail(w2, w3), torch.zeros_like(w1)
        db1 = w1.new_zeros((len(w1), w1.shape[2]))
        dshift = w1.new_empty((len(x), w1.shape[2]))
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        for m, after in enumerate(gradients[0].unbind()):
            down = tail.add(m, kept[2 * m], kept[2 * m + 1], after)
            torch.sum(down, 0, out=dshift[m])
            dw1[m % len(w1)] += slopes(x[m], down)
            db1[m % len(w1)] += dshift[m]
            if dx is not None:
                dx[m] = product(down, w1[m % len(w1)].t())
        return dx, dshift, dw1, db1, *tail.sums


def _outputs(firsts: Iterable[Tensor], layers: Sequence[Tensor], kept: Kept | None) -> Tensor:
    """``(M, B, out)`` of the first layers' outputs, one agent's after the other's."""
    w2, b2, w3, b3 = (p.unbind() for p in layers)
    out = []
    for m, first in enumerate(firsts):
        k = m % len(w2)
        second = product(first, w2[k], b2[k], relu=True)
        out.append(product(second, w3[k], b3[k]))
        if kept is not None:
            kept += (first, second)
    return torch.stack(out)


def _rest(h: Tensor, shift: Tensor, layers: Sequence[Tensor], kept: Kept | None) -> Tensor:
    rows = h.unbind()
    moved = (torch.add(rows[m % len(h)], s).relu_() for m, s in enumerate(shift.unbind()))
    return _outputs(moved, layers, kept)


def _own(x: Tensor, shift: Tensor, layers: Sequence[Tensor], kept: Kept | None) -> Tensor:
    w1, b1, *rest = layers
    firsts = (
        product(rows, w1[m % len(w1)], b1[m % len(w1)] + shift[m], relu=True)
        for m, rows in enumerate(x.unbind())
    )
    return _outputs(firsts, rest, kept)


def rest(h: Tensor, shift: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """Two layers on the first one's output, which the ReLU still awaits.

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
    return _rest(h, shift, layers, None)


def own(x: Tensor, shift: Tensor, layers: Sequence[Tensor]) -> Tensor:
    """All three layers, each network on its own rows.

    Args:
        x: ``(M, B, in)``.
        shift: ``(M, hidden)`` added to the first layer's output.
        layers: ``w1 (L, in, hidden)``, ``b1 (L, hidden)``, and as of :func:`rest`.

    Returns:
        ``(M, B, out)``.
    """
    if torch.is_grad_enabled():
        found: Tensor = _Own.apply(x, shift, *layers)  # type: ignore[no-untyped-call]
        return found
    return _own(x, shift, layers, None)
