"""GELU in its tanh form, compiled for the CPU.

``gelu(x) = x / (1 + exp(-2 u))`` with ``u = sqrt(2 / pi) (x + 0.044715 x^3)``, Hendrycks and Gimpel
2016: the same as ``x (1 + tanh(u)) / 2``. The array is read and written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from marl_common import entry_point, inner_function
from sparse_training.errors import SparseTrainingError
from sparse_training.kernels.exponential import exponential
from sparse_training.kernels.tiles import TileSpan, pack, write
from sparse_training.kernels.vectors import (
    KINDS,
    VECTORS,
    add,
    add_product,
    add_scaled,
    after,
    divide,
    load,
    numbers_at,
    splat,
    stamp_of,
    subtract,
    times,
    zeros,
)

FIRST = 2 * math.sqrt(2 / math.pi)
CUBE = FIRST * 0.044715
"""``2 u = FIRST x + CUBE x^3``."""


@inner_function
def logistic(x: Any, square: Any, none: Any, factors: Any) -> Any:
    """``1 / (1 + exp(-2 u))`` of a vector; `none` is a vector of zeros, `square` that of `x`."""
    one, first, cube = factors
    inner = times(x, add_scaled(splat(first), cube, square))
    return divide(splat(one), add(splat(one), exponential(subtract(none, inner))))


@inner_function
def value_of(x: Any, none: Any, factors: Any) -> Any:
    """GELU of a vector."""
    return times(x, logistic(x, times(x, x), none, factors))


@inner_function
def slope_of(x: Any, none: Any, factors: Any) -> Any:
    """Its derivative: ``s + x s (1 - s) (2 u)'``, with ``s`` the logistic function."""
    one, first, cube = factors
    square = times(x, x)
    s = logistic(x, square, none, factors)
    steep = add_scaled(splat(first), 3 * cube, square)
    return add_product(s, times(x, times(s, subtract(splat(one), s))), steep)


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources."""

    @entry_point(error_model="numpy")
    def values(factors: Any, sizes: Any, x: int, out: int, work: int) -> int:
        count, lanes, part = sizes
        given, result = numbers_at(x, factors[0]), numbers_at(out, factors[0])
        spare = numbers_at(work, factors[0])
        tile = after(spare, lanes)
        for first in range(0, count, lanes):
            span = TileSpan(count, first, min(lanes, count - first), lanes, part)
            pack(given, 1, span, tile)
            write(value_of(load(tile, 0), zeros(tile), factors), result, 0, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def gradients(factors: Any, sizes: Any, x: int, above: int, out: int, work: int) -> int:
        count, lanes, part = sizes
        given, result = numbers_at(x, factors[0]), numbers_at(out, factors[0])
        gradient, spare = numbers_at(above, factors[0]), numbers_at(work, factors[0])
        tile = after(spare, lanes)
        tile_above = after(tile, lanes)
        for first in range(0, count, lanes):
            span = TileSpan(count, first, min(lanes, count - first), lanes, part)
            pack(given, 1, span, tile)
            pack(gradient, 1, span, tile_above)
            slope = slope_of(load(tile, 0), zeros(tile), factors)
            write(times(slope, load(tile_above, 0)), result, 0, span, spare)
        return stamp

    return values, gradients


values, gradients = _entries(stamp_of("gelu", "exponential", "tiles"))
"""GELU and its gradient; they release the interpreter lock."""
FACTORS: dict[torch.dtype, Any] = {
    dtype: tuple(kind(number) for number in (1, FIRST, CUBE)) for dtype, kind in KINDS.items()
}
"""1 and the factors of the series, in the types that are served."""


class CompiledGelu(torch.autograd.Function):
    """:func:`gelu` as a function of torch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """GELU of each number."""
        x = x.contiguous()
        out, sizes = torch.empty_like(x), (x.numel(), *VECTORS[x.dtype][:2])
        work = x.new_empty(2 * sizes[1])
        values(FACTORS[x.dtype], sizes, x.data_ptr(), out.data_ptr(), work.data_ptr())
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Tensor:
        """The gradient of the input."""
        (x,) = ctx.saved_tensors
        above, out = given[0].contiguous(), torch.empty_like(x)
        sizes = (x.numel(), *VECTORS[x.dtype][:2])
        work = x.new_empty(3 * sizes[1])
        gradients(
            FACTORS[x.dtype], sizes, x.data_ptr(), above.data_ptr(), out.data_ptr(), work.data_ptr()
        )
        return out


def gelu(x: Tensor) -> Tensor:
    """GELU in its tanh form.

    Args:
        x: Of any shape; float32 or float64, on the CPU.

    Returns:
        Shaped as `x`.

    Raises:
        SparseTrainingError: Another device or type.
    """
    if not x.is_cpu or x.dtype not in FACTORS:
        raise SparseTrainingError(
            f"gelu of {x.dtype} on {x.device}: expected float32 or float64, on the CPU."
        )
    y: Tensor = CompiledGelu.apply(x)  # type: ignore[no-untyped-call]
    return y
