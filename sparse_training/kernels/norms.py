"""Layer normalisation of feature-major activations in one pass of tiles, compiled for the CPU.

``y = (x - mean) / sqrt(variance + eps) * weight + bias``, mean and variance over the features of a
column (Ba et al. 2016). Composed of torch's functions it reads and writes the whole array some ten
times; here a tile of columns stays in the cache from the mean to the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from marl_common import entry_point, inner_function
from sparse_training.errors import SparseTrainingError
from sparse_training.kernels.csr import add_up
from sparse_training.kernels.tiles import TileSpan, pack, write
from sparse_training.kernels.vectors import (
    KINDS,
    VECTORS,
    add,
    add_dot,
    add_product,
    add_scaled,
    address_of,
    after,
    inverse_root,
    load,
    load_part,
    numbers_at,
    splat,
    stamp_of,
    store,
    subtract,
    times,
    zeros,
)


@inner_function
def measure_columns(tile: Any, features: int, lanes: int, share: Any, eps: Any) -> Any:
    """Mean, and 1 / standard deviation, of each column of a tile.

    Args:
        tile: ``(features, lanes)``.
        features: Its rows.
        lanes: Its columns.
        share: 1 / features.
        eps: Added to the variance.
    """
    sums = zeros(tile)
    for feature in range(features):
        sums = add(sums, load(tile, feature * lanes))
    mean = times(sums, splat(share))
    squares = zeros(tile)
    for feature in range(features):
        away = subtract(load(tile, feature * lanes), mean)
        squares = add_product(squares, away, away)
    return mean, inverse_root(add_scaled(splat(eps), share, squares))


@inner_function
def add_norm_sums(
    normal: Any, above: Any, weight: Any, features: int, span: TileSpan, sums: Any, one: Any
) -> Any:
    """Add a tile's part to the gradients of weight and bias.

    Args:
        normal: Tile of the normalised input.
        above: Tile of the gradient of the output.
        weight: ``(features,)``.
        features: Rows of the tiles.
        span: Their columns.
        sums: ``(2 * features * part,)`` partial sums, of the weight and then of the bias.
        one: 1.

    Returns:
        Of each column the sum of the gradient times weight, and of that times the normalised input.
    """
    lanes, part, ones = span.lanes, span.part, splat(one)
    plain, turned = zeros(normal), zeros(normal)
    for feature in range(features):
        gradient, other = load(above, feature * lanes), load(normal, feature * lanes)
        at = feature * part
        store(sums, at, add_dot(load_part(sums, at), gradient, other))
        at += features * part
        store(sums, at, add_dot(load_part(sums, at), gradient, ones))
        plain = add_scaled(plain, weight[feature], gradient)
        turned = add_scaled(turned, weight[feature], times(gradient, other))
    return plain, turned


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Arrays are given by their addresses, 0 where there is none; `one` has the type of their numbers.
    """

    @entry_point(error_model="numpy")
    def normalise(
        one: Any, sizes: Any, share: Any, eps: Any, x: int, weight: int, bias: int, out: int,
        measures: int, work: int,
    ) -> int:  # fmt: skip
        features, rows, lanes, part = sizes
        given, result = numbers_at(x, one), numbers_at(out, one)
        factors, added = numbers_at(weight, one), numbers_at(bias, one)
        kept, spare = numbers_at(measures, one), numbers_at(work, one)
        tile = after(spare, lanes)
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            pack(given, features, span, tile)
            mean, scale = measure_columns(tile, features, lanes, share, eps)
            store(kept, 2 * first, mean)
            store(kept, 2 * first + lanes, scale)
            for feature in range(features):
                normal = times(subtract(load(tile, feature * lanes), mean), scale)
                start = splat(added[feature]) if bias != 0 else zeros(tile)
                write(add_scaled(start, factors[feature], normal), result, feature, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def gradients(
        one: Any, sizes: Any, share: Any, above: int, x: int, weight: int, measures: int,
        for_x: int, for_weights: int, work: int,
    ) -> int:  # fmt: skip
        features, rows, lanes, part = sizes
        given, gradient = numbers_at(x, one), numbers_at(above, one)
        factors, result = numbers_at(weight, one), numbers_at(for_x, one)
        kept, spare = numbers_at(measures, one), numbers_at(work, one)
        normal = after(spare, lanes)
        tile = after(normal, features * lanes)
        sums = after(tile, features * lanes)
        for i in range(2 * features * part):
            sums[i] = 0
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            mean, scale = load(kept, 2 * first), load(kept, 2 * first + lanes)
            pack(given, features, span, normal)
            pack(gradient, features, span, tile)
            for at in range(0, features * lanes, lanes):
                store(normal, at, times(subtract(load(normal, at), mean), scale))
            plain, turned = add_norm_sums(normal, tile, factors, features, span, sums, one)
            plain, turned = times(plain, splat(share)), times(turned, splat(share))
            for feature in range(features):
                at = feature * lanes
                inner = add_product(plain, load(normal, at), turned)
                inner = subtract(times(splat(factors[feature]), load(tile, at)), inner)
                write(times(inner, scale), result, feature, span, spare)
        add_up(sums, 2 * features, part, numbers_at(for_weights, one))
        return stamp

    return normalise, gradients


normalise, gradients = _entries(stamp_of("norms", "csr", "tiles"))
"""The normalisation and its gradients; they release the interpreter lock."""


class FusedNorm(torch.autograd.Function):
    """:func:`layer_norm` as a function of torch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, eps: float) -> Tensor:
        """Normalise; keeps mean and scale of each column."""
        x, weight = x.contiguous(), weight.contiguous()
        bias = bias if bias is None else bias.contiguous()
        kind, sizes = KINDS[x.dtype], (*x.shape, *VECTORS[x.dtype][:2])
        features, rows, lanes, _ = sizes
        out = torch.empty_like(x)
        measures = x.new_empty(2 * lanes * -(-rows // lanes))
        work = x.new_empty((1 + features) * lanes)
        normalise(
            kind(1), sizes, kind(1 / features), kind(eps), x.data_ptr(), weight.data_ptr(),
            address_of(bias), out.data_ptr(), measures.data_ptr(),
            work.data_ptr(),
        )  # fmt: skip
        ctx.save_for_backward(x, weight, measures)
        return out

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of input, weight and bias."""
        x, weight, measures = ctx.saved_tensors
        above = given[0].contiguous()
        kind, sizes = KINDS[x.dtype], (*x.shape, *VECTORS[x.dtype][:2])
        features, _, lanes, part = sizes
        for_x, for_weights = torch.empty_like(x), x.new_empty((2, features))
        work = x.new_empty((1 + 2 * features) * lanes + 2 * features * part)
        gradients(
            kind(1), sizes, kind(1 / features), above.data_ptr(), x.data_ptr(), weight.data_ptr(),
            measures.data_ptr(), for_x.data_ptr(), for_weights.data_ptr(), work.data_ptr(),
        )  # fmt: skip
        return for_x, for_weights[0], for_weights[1] if ctx.needs_input_grad[2] else None, None


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise each column of feature-major activations.

    Args:
        x: ``(features, rows)``; float32 or float64, on the CPU.
        weight: ``(features,)``.
        bias: ``(features,)`` or None.
        eps: Added to the variance; above 0.

    Returns:
        ``(features, rows)``.

    Raises:
        SparseTrainingError: Another device, type or shape, or no positive eps.
    """
    parts = [x, weight] if bias is None else [x, weight, bias]
    if not all(t.is_cpu and t.dtype == x.dtype for t in parts) or x.dtype not in KINDS:
        raise SparseTrainingError(
            f"layer_norm of {x.dtype} on {x.device}: expected float32 or float64, of input and "
            "weights, on the CPU."
        )
    if x.dim() != 2 or any(t.shape != (len(x),) for t in parts[1:]):
        raise SparseTrainingError(
            f"layer_norm of shape {tuple(x.shape)} with weights of {tuple(weight.shape)}; expected "
            "(features, rows) and (features,)."
        )
    if not eps > 0:
        raise SparseTrainingError(f"layer_norm with eps={eps}: expected a number above 0.")
    y: Tensor = FusedNorm.apply(x, weight, bias, eps)  # type: ignore[no-untyped-call]
    return y
