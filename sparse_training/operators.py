"""The product of a sparse layer as operators of torch, so that programs are compiled around it.

`sparse_training::product`, `product_gradients` and `dense_gradient` multiply on the CPU, in float32
and float64. Eager code calls the same functions without torch's dispatcher, which takes as long as
a small layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from sparse_training.errors import SparseTrainingError
from sparse_training.kernels import single
from sparse_training.kernels.index import layer_row
from sparse_training.kernels.layers import INPUTS, KEPT, OUTPUTS
from sparse_training.kernels.vectors import VECTORS, address_of
from sparse_training.structure import BLOCK, Shape


class ProductPlan(NamedTuple):
    """How the kept weights of a layer are multiplied.

    Attributes:
        places: What `index_of` gives; it lives as long as its addresses in `row`.
        relu: Whether there is a ReLU.
        rows_first: Whether a row of the input is a sample, not a column.
        row: What a table of layers holds of it (`kernels.layers`).
    """

    places: Tensor
    relu: bool
    rows_first: bool
    row: tuple[int, ...]


def plan_of(index: Tensor, shape: Shape, blocks: bool, relu: bool, rows_first: bool) -> ProductPlan:
    """The plan of a layer of outputs and inputs; `blocks` says whether it keeps blocks.

    Raises:
        SparseTrainingError: The index is none of a layer of this shape.
    """
    sizes, addresses = layer_row(index, *shape, blocks)
    return ProductPlan(
        index, relu, rows_first, (*sizes, 0, 0, -1, int(relu), int(blocks), *addresses)
    )


Kept = tuple[Tensor, Tensor, Tensor | None]
"""What gradients need: input, kept weights, and the output where there was a ReLU."""
Gradients = tuple[Tensor | None, Tensor, Tensor | None]
"""Of input, kept weights and bias; None where they are not asked."""


def product(x: Tensor, values: Tensor, bias: Tensor | None, plan: ProductPlan) -> Tensor:
    """``act(W x + b)`` with the kept weights alone; all contiguous.

    Args:
        x: ``(..., I)`` where rows come first, else ``(I, rows)``.
        values: ``(k,)`` kept weights or ``(blocks, 4, 4)``, of the same type.
        bias: ``(O,)`` or None.
        plan: How they are multiplied.

    Returns:
        ``(..., O)``, or ``(O, rows)``.
    """
    _, _, rows_first, row = plan
    rows, shape = _extent(x, row[OUTPUTS], rows_first)
    y = x.new_empty(*shape)  # torch reads a tuple more slowly
    layer = *row, values.data_ptr(), address_of(bias), 0, 0
    lanes, part, one = VECTORS[x.dtype]
    work = x.new_empty((1 + part + row[INPUTS] + BLOCK) * lanes)
    arrays = x.data_ptr(), y.data_ptr(), work.data_ptr()
    single.forward(one, (rows, lanes, part), layer, arrays, rows_first)
    return y


def product_gradients(
    above: Tensor, kept: Kept, plan: ProductPlan, for_x: bool, for_bias: bool
) -> Gradients:
    """Gradients of :func:`product`.

    Args:
        above: Gradient of its output, contiguous.
        kept: Of the product.
        plan: As there.
        for_x: Whether the input's gradient is asked.
        for_bias: Whether the bias' is.
    """
    (x, values, y), (_, _, rows_first, row) = kept, plan
    outputs, inputs, size, *_ = row
    below = torch.empty_like(x) if for_x else None
    found, bias = torch.empty_like(values), x.new_empty(outputs) if for_bias else None
    layer = *row, values.data_ptr(), 0, found.data_ptr(), address_of(bias)
    lanes, part, one = VECTORS[x.dtype]
    rows, room = x.numel() // inputs, 1 + part + inputs + outputs + 2 * BLOCK
    work = x.new_empty(room * lanes + (size + outputs) * part + size)
    arrays = x.data_ptr(), address_of(y), above.data_ptr(), address_of(below), work.data_ptr()
    single.backward(one, (rows, lanes, part), layer, arrays, rows_first)
    return below, found, bias


def dense_gradient(
    above: Tensor, x: Tensor, y: Tensor | None, probe: Tensor, rows_first: bool
) -> Tensor:
    """Gradient of all weights, shaped as `probe`; zeros if that is not ``(O, I)``.

    Args:
        above: Gradient of the output.
        x: Input.
        y: Output where there was a ReLU, else None.
        probe: ``(O, I)``, or with fewer rows where nobody asks.
        rows_first: Whether a row of `x` is a sample, not a column.
    """
    outputs = above.shape[-1 if rows_first else 0]
    if len(probe) != outputs:
        return torch.zeros_like(probe)
    masked = above if y is None else above * (y > 0)
    if rows_first:
        return masked.reshape(-1, outputs).t() @ x.reshape(-1, x.shape[-1])
    return masked @ x.t()


class Product(torch.autograd.Function):
    """:func:`product` without the dispatcher."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        values: Tensor,
        bias: Tensor | None,
        probe: Tensor | None,
        plan: ProductPlan,
    ) -> Tensor:
        """Multiply; the gradient of `probe` is the dense one."""
        y = product(x, values, bias, plan)
        ctx.plan, ctx.probe = plan, probe
        ctx.save_for_backward(x, values, y if plan.relu else None)
        return y

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients; the operators refuse that gradients of them follow."""
        for_x, _, for_bias, for_all, _ = ctx.needs_input_grad
        kept, plan, gradient = ctx.saved_tensors, ctx.plan, above[0].contiguous()
        if torch.is_grad_enabled():
            wants, rest = ctx.needs_input_grad[:4], (plan.places, plan.rows_first)
            return *_by_operators(gradient, kept, ctx.probe, rest, wants), None
        found = product_gradients(gradient, kept, plan, for_x, for_bias)
        if not for_all:
            return *found, None, None
        return *found, dense_gradient(gradient, kept[0], kept[2], ctx.probe, plan.rows_first), None


def multiply(
    x: Tensor, values: Tensor, bias: Tensor | None, probe: Tensor | None, plan: ProductPlan
) -> Tensor:
    """:func:`product` with gradients; that of `probe` is the dense one.

    Raises:
        SparseTrainingError: A transform of `torch.func` is at work.
    """
    if torch._C._are_functorch_transforms_active():
        raise SparseTrainingError(
            "a sparse product under a transform of torch.func; expected plain tensors. Use backend "
            "'masked'."
        )
    return _apply(x, values, bias, probe, plan)  # type: ignore[no-any-return]


_apply: Any = super(torch.autograd.Function, Product).apply
"""`Product.apply` without what torch does first for `torch.func`."""


def _extent(x: Tensor, outputs: int, rows_first: bool) -> tuple[int, tuple[Any, ...]]:
    """Samples, and the shape of the output."""
    shape = x.shape
    if rows_first:
        return x.numel() // shape[-1], (*shape[:-1], outputs)
    return shape[1], (outputs, shape[1])


def _check(what: str, given: Tensor | None, shape: tuple[Any, ...], weights: Tensor) -> None:
    """Refuse a tensor of another shape, or of another type than the weights."""
    if given is not None and (given.shape != shape or given.dtype is not weights.dtype):
        raise SparseTrainingError(
            f"{what} of {tuple(given.shape)} {given.dtype}; expected {tuple(shape)} "
            f"{weights.dtype}."
        )


def _checked_plan(
    index: Tensor, x: Tensor, values: Tensor, flags: tuple[int, bool, bool]
) -> ProductPlan:
    """The plan of any tensors; refuses kept weights that are not those of the index."""
    outputs, relu, rows_first = flags
    shape = outputs, x.shape[-1 if rows_first else 0]
    plan = plan_of(index.contiguous(), shape, values.dim() == 3, relu, rows_first)
    kept = plan.row[KEPT]
    if kept != values.numel() or values.dtype not in VECTORS or index.dtype != torch.int32:
        raise SparseTrainingError(
            f"{values.numel()} kept weights of {values.dtype}, index of {index.dtype}; expected "
            f"{kept} of float32 or float64, and int32."
        )
    return plan


def _checked_product(
    x: Tensor, values: Tensor, bias: Tensor | None, index: Tensor, probe: Tensor | None,
    *flags: Any,
) -> Tensor:  # fmt: skip
    """:func:`product` of any tensors; flags are the others of its plan."""
    outputs, relu, rows_first = flags
    _check("input", x, x.shape, values)
    _check("bias", bias, (outputs,), values)
    plan = _checked_plan(index, x, values, (outputs, relu, rows_first))
    bias = None if bias is None else bias.contiguous()
    return product(x.contiguous(), values.contiguous(), bias, plan)


def _fake_product(x: Tensor, values: Tensor, *rest: Any) -> Tensor:
    *_, outputs, _, rows_first = rest
    return x.new_empty(_extent(x, outputs, rows_first)[1])


def _checked_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, *flags: bool
) -> tuple[Tensor, ...]:
    """:func:`product_gradients` of any tensors; what is not asked is empty."""
    for_x, for_bias, rows_first = flags
    outputs = above.shape[-1 if rows_first else 0]
    _check("input", x, x.shape, values)
    _check("gradient", above, _extent(x, outputs, rows_first)[1], values)
    _check("output", y, above.shape, values)
    plan = _checked_plan(index, x, values, (outputs, y is not None, rows_first))
    kept = x.contiguous(), values.contiguous(), None if y is None else y.contiguous()
    found = product_gradients(above.contiguous(), kept, plan, for_x, for_bias)
    return tuple(x.new_empty(0) if one is None else one for one in found)


def _fake_gradients(
    above: Tensor, x: Tensor, values: Tensor, y: Tensor | None, index: Tensor, *flags: bool
) -> tuple[Tensor, ...]:
    for_x, for_bias, rows_first = flags
    whole = torch.contiguous_format
    below = torch.empty_like(x, memory_format=whole) if for_x else x.new_empty(0)
    bias = x.new_empty(above.shape[-1 if rows_first else 0] if for_bias else 0)
    return below, torch.empty_like(values, memory_format=whole), bias


def _by_operators(
    above: Tensor, kept: Kept, probe: Tensor | None, rest: tuple[Tensor, bool],
    wants: Sequence[bool],
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """Gradients of input, kept weights, bias and probe, where they are wanted."""
    (x, values, y), (index, rows_first) = kept, rest
    (for_x, for_values, for_bias, for_all), call = wants, torch.ops.sparse_training
    found = call.product_gradients.default(above, x, values, y, index, for_x, for_bias, rows_first)
    dense = call.dense_gradient.default(above, x, y, probe, rows_first) if for_all else None
    asked = zip(found, (for_x, for_values, for_bias), strict=True)
    return *(one if is_asked else None for one, is_asked in asked), dense


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save what gradients of the operator need."""
    x, values, _, index, probe, _, relu, ctx.rows_first = inputs
    ctx.save_for_backward(x, values, output if relu else None, index, probe)


def _backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
    """Gradients of the operator."""
    *kept, index, probe = ctx.saved_tensors
    for_x, for_values, for_bias, _, for_all, *_ = ctx.needs_input_grad
    wants = for_x, for_values, for_bias, for_all
    *found, dense = _by_operators(above, tuple(kept), probe, (index, ctx.rows_first), wants)
    return *found, None, dense, None, None, None


def _refuse_second(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
    raise SparseTrainingError("a sparse product has no second derivative; use backend 'masked'.")


def _register(name: str, schema: str, function: Any, fake: Any, **rules: Any) -> None:
    """Tell torch of an operator of the CPU."""
    library, full = torch.library, f"sparse_training::{name}"
    library.define(full, schema)
    library.impl(full, "CPU")(function)
    library.register_fake(full)(fake)
    library.register_autograd(full, rules.pop("backward", _refuse_second), **rules)
    library.register_autocast(full, "cpu", torch.float32)


_register(
    "product",
    "(Tensor x, Tensor values, Tensor? bias, Tensor index, Tensor? probe, SymInt outputs, "
    "bool relu, bool rows_first) -> Tensor",
    _checked_product,
    _fake_product,
    backward=_backward,
    setup_context=_keep,
)
_register(
    "product_gradients",
    "(Tensor above, Tensor x, Tensor values, Tensor? y, Tensor index, bool for_x, bool for_bias, "
    "bool rows_first) -> (Tensor, Tensor, Tensor)",
    _checked_gradients,
    _fake_gradients,
)
_register(
    "dense_gradient",
    "(Tensor above, Tensor x, Tensor? y, Tensor probe, bool rows_first) -> Tensor",
    dense_gradient,
    lambda above, x, y, probe, rows_first: torch.empty_like(probe),
)
OPERATOR: Callable[..., Tensor] = torch.ops.sparse_training.product.default
""":func:`product` as an operator."""
