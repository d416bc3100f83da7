"""Products of a layer as torch functions, with the gradient at the kept weights alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class MaskedProduct(torch.autograd.Function):
    """``act(W x + b)`` with a written-out ``W``, whose gradient is 0 wherever no weight is kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, layer: Any) -> Tensor:
        """Multiply; `layer` is the `SparseLinear` that knows mask and activation."""
        y = plain_product(x, weight, bias, layer.activation)
        ctx.layer, ctx.has_bias = layer, bias is not None
        ctx.save_for_backward(x, weight, y if layer.activation == "relu" else None)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of input, weight and bias."""
        x, weight, y = ctx.saved_tensors
        layer = ctx.layer
        above = gradients[0] if y is None else gradients[0] * (y > 0)
        for_x, for_weight, for_bias, _ = ctx.needs_input_grad
        dense = above @ x.t() if for_weight else None
        if dense is not None:
            layer.note_gradient(dense)
            dense = dense * layer.mask()
        return (
            weight.t() @ above if for_x else None,
            dense,
            above.sum(dim=1) if ctx.has_bias and for_bias else None,
            None,
        )


def plain_product(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None) -> Tensor:
    """``act(W x + b)`` by torch."""
    y = weight @ x if bias is None else torch.addmm(bias.unsqueeze(1), weight, x)
    return y.relu() if activation == "relu" else y
