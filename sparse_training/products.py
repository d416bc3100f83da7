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


class CompiledProduct(torch.autograd.Function):
    """``act(W x + b)`` with the kept weights alone, on the CPU."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Tensor, bias: Tensor | None, layer: Any) -> Tensor:
        """Multiply; `layer` is the `SparseLinear` that knows index and activation."""
        x, index = x.contiguous(), layer.index()
        relu = layer.activation == "relu"
        y: Tensor = index.forward(x, values, bias, relu)
        ctx.layer, ctx.index, ctx.has_bias = layer, index, bias is not None
        ctx.save_for_backward(x, values, y if relu else None)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of input, kept weights and bias."""
        x, values, y = ctx.saved_tensors
        above = gradients[0].contiguous()
        if ctx.layer.wants_gradient:
            masked = above if y is None else above * (y > 0)
            ctx.layer.note_gradient(masked @ x.t())
        for_x, for_values, for_bias, _ = ctx.needs_input_grad
        found = ctx.index.backward(x, values, y, above, for_x=for_x, bias=ctx.has_bias)
        return (
            found.x,
            found.values if for_values else None,
            found.bias if for_bias else None,
            None,
        )


def plain_product(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None) -> Tensor:
    """``act(W x + b)`` by torch."""
    y = weight @ x if bias is None else torch.addmm(bias.unsqueeze(1), weight, x)
    return y.relu() if activation == "relu" else y
