"""The product of a sparse layer as operators of torch, so that programs are compiled around it.

`sparse_training::product` and `sparse_training::product_gradients` run on the CPU, in float32 and
float64. Eager code calls the same functions and the same rule of gradients without torch's
dispatcher, which takes as long as a small layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """``act(W x + b)`` with the kept weights alone; all contiguous.

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
    (rows, features), blocks = _extent(x, rows_first), values.dim() == 3
    y = x.new_empty(_shape(x, outputs, rows_first))
    sizes, addresses = layer_row(index, outputs, features, blocks)
    weights = values.data_ptr(), address_of(bias), 0, 0
    layer = *sizes, 0, 0, -1, int(relu), int(blocks), *addresses, *weights
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
    above = above.contiguous()
    (rows, features), outputs = _extent(x, rows_first), above.shape[-1 if rows_first else 0]
    found = _empty_gradients(above, x, values, for_x, for_bias, rows_first)
    below, for_values, bias = found[0].data_ptr(), found[1].data_ptr(), found[2].data_ptr()
    blocks = values.dim() == 3
    sizes, addresses = layer_row(index, outputs, features, blocks)
    weights = values.data_ptr(), 0, for_values, bias
    layer = *sizes, 0, 0, -1, 0, int(blocks), *addresses, *weights
    lanes, part, one = VECTORS[x.dtype]
    kept, room = values.numel(), 1 + part + features + outputs + 2 * BLOCK
    work = x.new_empty(room * lanes + (kept + outputs) * part + kept)
    single.backward(
        one, (rows, lanes, part), layer, x.data_ptr(), address_of(y), above.data_ptr(), below,
        rows_first, work.data_ptr(),
    )  # fmt: skip
    return found


def _shape(x: Tensor, outputs: int, rows_first: bool) -> tuple[Any, ...]:
    return (*x.shape[:-1], outputs) if rows_first else (outputs, x.shape[1])


def _extent(x: Tensor, rows_first: bool) -> tuple[int, int]:
    """Samples and features."""
    features = x.shape[-1 if rows_first else 0]
    return x.numel() // features, features


def _empty_gradients(
    above: Tensor, x: Tensor, values: Tensor, for_x: bool, for_bias: bool, rows_first: bool
) -> Gradients:
    whole = torch.contiguous_format
    below = torch.empty_like(x, memory_format=whole) if for_x else x.new_empty(0)
    bias = x.new_empty(above.shape[-1 if rows_first else 0] if for_bias else 0)
    return below, torch.empty_like(values, memory_format=whole), bias


def _checked_product(
    x: Tensor, values: Tensor, bias: Tensor | None, index: Tensor, probe: Tensor | None,
    outputs: int, relu: bool, rows_first: bool,
) -> Tensor:  # fmt: skip
    """:func:`product` of any tensors."""
    _check("input", x, x.shape, values)
    _check("bias", bias, (outputs,), values)
    _check_index(index, values, outputs, _extent(x, rows_first)[1])
    bias = None if bias is None else bias.contiguous()
    given = x.contiguous(), values.contiguous(), bias, index.contiguous()
    return product(*given, probe, outputs, relu, rows_first)


def _checked_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, for_x: bool,
    for_bias: bool, rows_first: bool,
) -> Gradients:  # fmt: skip
    """:func:`product_gradients` of any tensors."""
    outputs = above.shape[-1 if rows_first else 0]
    _check("input", x, x.shape, values)
    _check("gradient", above, _shape(x, outputs, rows_first), values)
    _check("output", y, above.shape, values)
    _check_index(index, values, outputs, _extent(x, rows_first)[1])
    y = None if y is None else y.contiguous()
    given = above, x.contiguous(), values.contiguous(), y, index.contiguous()
    return product_gradients(*given, for_x, for_bias, rows_first)


def _check(what: str, given: Tensor | None, shape: tuple[Any, ...], weights: Tensor) -> None:
    """Refuse a tensor of another shape, or of another type than the weights."""
    if given is not None and (given.shape != shape or given.dtype is not weights.dtype):
        raise SparseTrainingError(
            f"{what} of {tuple(given.shape)} {given.dtype}; expected {tuple(shape)} "
            f"{weights.dtype}."
        )


def _check_index(index: Tensor, values: Tensor, outputs: int, inputs: int) -> None:
    """Refuse kept weights that are not those of an index."""
    kept = layer_row(index, outputs, inputs, values.dim() == 3)[0][2]
    if kept != values.numel() or values.dtype not in VECTORS or index.dtype != torch.int32:
        raise SparseTrainingError(
            f"{values.numel()} kept weights of {values.dtype}, index of {index.dtype}; expected "
            f"{kept} of float32 or float64, and int32."
        )


def _fake_product(
    x: Tensor, values: Tensor, bias: Tensor | None, index: Tensor, probe: Tensor | None,
    outputs: int, relu: bool, rows_first: bool,
) -> Tensor:  # fmt: skip
    return x.new_empty(_shape(x, outputs, rows_first))


def _fake_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, *asked: bool
) -> Gradients:
    return _empty_gradients(above, x, values, *asked)


def _wanted(
    by: Callable[..., Gradients], above: Tensor, kept: tuple[Any, ...], wants: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """Gradients of input, kept weights, bias and probe, where they are wanted.

    Args:
        by: :func:`product_gradients`, or the operator.
        above: Gradient of the output.
        kept: Input, kept weights, output where there is a ReLU, index, and whether rows come first.
        wants: Whether each of the four is wanted.
    """
    x, values, y, index, rows_first = kept
    for_x, for_values, for_bias, for_all = wants
    found = by(above, x, values, y, index, for_x, for_bias, rows_first)
    dense = None
    if for_all:
        masked = above if y is None else above * (y > 0)
        if rows_first:
            masked, x = masked.flatten(0, -2).t(), x.flatten(0, -2).t()
        dense = masked @ x.t()
    return (
        found[0] if for_x else None, found[1] if for_values else None,
        found[2] if for_bias else None, dense,
    )  # fmt: skip


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save what gradients of the operator need."""
    x, values, _, index, _, _, relu, ctx.rows_first = inputs
    ctx.save_for_backward(x, values, output if relu else None, index)


def _backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
    """Gradients of the operator."""
    for_x, for_values, for_bias, _, for_all, *_ = ctx.needs_input_grad
    by = torch.ops.sparse_training.product_gradients.default
    kept = *ctx.saved_tensors, ctx.rows_first
    *found, dense = _wanted(by, above, kept, (for_x, for_values, for_bias, for_all))
    return *found, None, dense, None, None, None


class Product(torch.autograd.Function):
    """:func:`product` without the dispatcher."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, values: Tensor, bias: Tensor | None, probe: Tensor | None, rest: Any
    ) -> Tensor:
        """Multiply; `rest` are index, outputs, whether there is a ReLU, and whether rows first."""
        index, outputs, relu, rows_first = rest
        y = product(x, values, bias, index, probe, outputs, relu, rows_first)
        ctx.rest = index, rows_first
        ctx.save_for_backward(x, values, y if relu else None)
        return y

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients; the operator refuses that gradients of them follow."""
        by: Any = product_gradients
        if torch.is_grad_enabled():
            by = torch.ops.sparse_training.product_gradients.default
        kept = *ctx.saved_tensors, *ctx.rest
        return *_wanted(by, above[0], kept, ctx.needs_input_grad[:4]), None


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
    library.impl(name, "CPU")(_checked_product)
    library.impl(gradients, "CPU")(_checked_gradients)
    library.register_fake(name)(_fake_product)
    library.register_fake(gradients)(_fake_gradients)
    library.register_autograd(name, _backward, setup_context=_keep)
    library.register_autograd(gradients, _refuse_second)
    for operator in (name, gradients):
        library.register_autocast(operator, "cpu", torch.float32)


_register()
OPERATOR: Callable[..., Tensor] = torch.ops.sparse_training.product.default
""":func:`product` as an operator."""
