"""The product of a sparse layer as operators of torch, so that programs are compiled around it.

`sparse_training::product` and `sparse_training::product_gradients` run on the CPU, in float32 and
float64. Eager code calls the same functions and the same rule of gradients without torch's
dispatcher, which takes as long as a small layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sparse_training.errors import SparseTrainingError
from sparse_training.kernels import single
from sparse_training.kernels.index import VECTORS, layer_row
from sparse_training.kernels.vectors import address_of
from sparse_training.structure import BLOCK

Gradients = tuple[Tensor, Tensor, Tensor]
"""Of input, kept weights and bias; empty where they are not asked."""


def product(
    x: Tensor, values: Tensor, bias: Tensor | None, index: Tensor, probe: Tensor | None,
    outputs: int, relu: bool, rows_first: bool,
) -> Tensor:  # fmt: skip
    """``act(W x + b)`` with the kept weights alone.

    Args:
        x: ``(..., I)`` with `rows_first`, else ``(I, rows)``.
        values: ``(k,)`` kept weights or ``(blocks, 4, 4)``, of the same type.
        bias: ``(O,)`` or None.
        index: What `index_of` gives.
        probe: ``(O, I)`` tensor that is not read: its gradient is that of all weights.
        outputs: O.
        relu: Whether there is one.
        rows_first: Whether a row of `x` is a sample, not a column.

    Returns:
        ``(..., O)``, or ``(O, rows)``.
    """
    x, values = x.contiguous(), values.contiguous()
    _check("bias", bias, (outputs,), values)
    y = x.new_empty(_shape(x, outputs, rows_first))
    rows, features = _extent(x, rows_first)
    layer = _layer(index, (outputs, features), values, (bias, relu), (None, None))
    _check("input", x, x.shape, values)
    lanes, part, one = VECTORS[x.dtype]
    work = x.new_empty((1 + part + features + BLOCK) * lanes)
    single.forward(
        one, (rows, lanes, part), layer, x.data_ptr(), y.data_ptr(), rows_first, work.data_ptr()
    )
    return y


def product_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, for_x: bool,
    for_bias: bool, rows_first: bool,
) -> Gradients:  # fmt: skip
    """Gradients of :func:`product`.

    Args:
        above: Gradient of its output.
        x: Its input.
        values: The kept weights.
        y: Its output where it had a ReLU, else None.
        index: As there.
        for_x: Whether the input's gradient is asked.
        for_bias: Whether the bias' is.
        rows_first: As there.
    """
    above, x, values = above.contiguous(), x.contiguous(), values.contiguous()
    y = None if y is None else y.contiguous()
    (rows, features), outputs = _extent(x, rows_first), above.shape[-1 if rows_first else 0]
    _check("output", y, above.shape, values)
    _check("gradient", above, _shape(x, outputs, rows_first), values)
    found = _empty_gradients(above, x, values, for_x, for_bias, rows_first)
    lanes, part, one = VECTORS[x.dtype]
    layer = _layer(index, (outputs, features), values, (None, False), found[1:])
    _check("input", x, x.shape, values)
    kept, room = values.numel(), 1 + part + features + outputs + 2 * BLOCK
    work = x.new_empty(room * lanes + (kept + outputs) * part + kept)
    single.backward(
        one, (rows, lanes, part), layer, x.data_ptr(), address_of(y), above.data_ptr(),
        found[0].data_ptr() if for_x else 0, rows_first, work.data_ptr(),
    )  # fmt: skip
    return found


def _shape(x: Tensor, outputs: int, rows_first: bool) -> tuple[Any, ...]:
    return (*x.shape[:-1], outputs) if rows_first else (outputs, x.shape[1])


def _extent(x: Tensor, rows_first: bool) -> tuple[int, int]:
    """Samples and features."""
    features = x.shape[-1 if rows_first else 0]
    return x.numel() // features, features


def _check(what: str, given: Tensor | None, shape: tuple[Any, ...], weights: Tensor) -> None:
    """Refuse a tensor of another shape, or of another type than the weights."""
    if given is not None and (given.shape != shape or given.dtype is not weights.dtype):
        raise SparseTrainingError(
            f"{what} of {tuple(given.shape)} {given.dtype}; expected {tuple(shape)} "
            f"{weights.dtype}."
        )


def _layer(
    index: Tensor, shape: tuple[int, int], values: Tensor, added: tuple[Tensor | None, bool],
    found: tuple[Tensor | None, Tensor | None],
) -> tuple[int, ...]:  # fmt: skip
    """A row of a table of layers (`kernels.layers`)."""
    blocks, (bias, relu) = values.dim() == 3, added
    sizes, addresses = layer_row(index, shape, blocks)
    if sizes[2] != values.numel() or values.dtype not in VECTORS:
        raise SparseTrainingError(
            f"{values.numel()} kept weights of {values.dtype}; expected {sizes[2]} as the index "
            "has, of float32 or float64."
        )
    for_values, for_bias = (0 if t is None or t.numel() == 0 else t.data_ptr() for t in found)
    weights = values.data_ptr(), address_of(bias), for_values, for_bias
    return (*sizes, 0, 0, -1, int(relu), int(blocks), *addresses, *weights)


def _empty_gradients(
    above: Tensor, x: Tensor, values: Tensor, for_x: bool, for_bias: bool, rows_first: bool
) -> Gradients:
    bias = x.new_empty(above.shape[-1 if rows_first else 0] if for_bias else 0)
    return x.new_empty(x.shape if for_x else 0), values.new_empty(values.shape), bias


def _fake_product(
    x: Tensor, values: Tensor, bias: Tensor | None, index: Tensor, probe: Tensor | None,
    outputs: int, relu: bool, rows_first: bool,
) -> Tensor:  # fmt: skip
    return x.new_empty(_shape(x, outputs, rows_first))


def _fake_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, *asked: bool
) -> Gradients:
    return _empty_gradients(above, x, values, *asked)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save what gradients need."""
    x, values, bias, index, _, _, relu, rows_first = inputs
    ctx.rows_first, ctx.has_bias = rows_first, bias is not None
    ctx.save_for_backward(x, values, output if relu else None, index)


def _rule(gradients: Callable[..., Gradients]) -> Callable[..., tuple[Tensor | None, ...]]:
    """Gradients of :func:`product`, by the operator or without it."""

    def backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        x, values, y, index = ctx.saved_tensors
        for_x, for_values, for_bias, _, for_all, *_ = ctx.needs_input_grad
        for_bias, rows_first = ctx.has_bias and for_bias, ctx.rows_first
        found = gradients(above, x, values, y, index, for_x, for_bias, rows_first)
        return (
            found[0] if for_x else None,
            found[1] if for_values else None,
            found[2] if for_bias else None,
            None,
            _dense(above if y is None else above * (y > 0), x, rows_first) if for_all else None,
            *(None,) * 3,
        )

    return backward


def _dense(above: Tensor, x: Tensor, rows_first: bool) -> Tensor:
    """``(O, I)``: the gradient of all weights."""
    return above.flatten(0, -2).t() @ x.flatten(0, -2) if rows_first else above @ x.t()


def _eager_gradients(*given: Any) -> Gradients:
    """Without the dispatcher, but where gradients of them are to follow, which it refuses."""
    by_operator = torch.ops.sparse_training.product_gradients.default
    found: Gradients = (by_operator if torch.is_grad_enabled() else product_gradients)(*given)
    return found


class Product(torch.autograd.Function):
    """:func:`product` without the dispatcher."""

    forward = staticmethod(product)
    setup_context = staticmethod(_keep)
    backward = staticmethod(_rule(_eager_gradients))


def _refuse_second(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
    raise SparseTrainingError("a sparse product has no second derivative; use backend 'masked'.")


def _register() -> None:
    library = torch.library
    name, gradients = "sparse_training::product", "sparse_training::product_gradients"
    library.define(
        name,
        "(Tensor x, Tensor values, Tensor? bias, Tensor index, Tensor? probe, SymInt outputs, "
        "bool relu, bool rows_first) -> Tensor",
    )
    library.define(
        gradients,
        "(Tensor above, Tensor x, Tensor values, Tensor? y, Tensor index, bool for_x, "
        "bool for_bias, bool rows_first) -> (Tensor, Tensor, Tensor)",
    )
    library.impl(name, "CPU")(product)
    library.impl(gradients, "CPU")(product_gradients)
    library.register_fake(name)(_fake_product)
    library.register_fake(gradients)(_fake_gradients)
    by_operator = torch.ops.sparse_training.product_gradients.default
    library.register_autograd(name, _rule(by_operator), setup_context=_keep)
    library.register_autograd(gradients, _refuse_second)
    for operator in (name, gradients):
        library.register_autocast(operator, "cpu", torch.float32)


_register()
OPERATOR: Callable[..., Tensor] = torch.ops.sparse_training.product.default
""":func:`product` as an operator."""
