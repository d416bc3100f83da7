"""Products with single kept weights (compressed rows), compiled for the CPU.

For each tile of columns a row of sums is held in registers while it goes over the row's kept
weights: one read of the tile and one multiply-add for each.
"""

from __future__ import annotations

from typing import Any

from marl_common import inner_function
from sparse_training.kernels.tiles import TileSpan, write
from sparse_training.kernels.vectors import (
    add_dot,
    add_scaled,
    load,
    load_part,
    positive,
    splat,
    store,
    total,
    zeros,
)


@inner_function
def multiply_rows(
    values: Any, index: Any, bias: Any, flags: Any, tile: Any, out: Any, span: TileSpan, spare: Any
) -> None:
    """``out = act(W tile + bias)`` in the columns of a tile.

    Args:
        values: ``(k,)`` kept weights, row by row.
        index: Rows; first weight of each row and one past the last; column of each weight.
        bias: ``(rows,)``.
        flags: Whether there is a bias, and a ReLU.
        tile: The tile of the input.
        out: ``(rows, columns)``.
        span: The tile's columns.
        spare: Room for a vector.
    """
    rows, starts, columns = index
    has_bias, relu = flags
    for row in range(rows):
        sums = splat(bias[row]) if has_bias else zeros(tile)
        for at in range(starts[row], starts[row + 1]):
            sums = add_scaled(sums, values[at], load(tile, columns[at] * span.lanes))
        if relu:
            sums = positive(sums)
        write(sums, out, row, span, spare)


@inner_function
def add_gradients(index: Any, above: Any, below: Any, span: TileSpan, sums: Any) -> None:
    """Add a tile's part to the gradients of the kept weights.

    Args:
        index: As in :func:`multiply_rows`.
        above: Tile of the gradient of the output.
        below: Tile of the input.
        span: The tiles' columns.
        sums: ``(k * part,)`` partial sums of each weight.
    """
    rows, starts, columns = index
    lanes, part = span.lanes, span.part
    for row in range(rows):
        gradient = load(above, row * lanes)
        for at in range(starts[row], starts[row + 1]):
            other = load(below, columns[at] * lanes)
            store(sums, at * part, add_dot(load_part(sums, at * part), gradient, other))


@inner_function
def add_row_sums(tile: Any, rows: int, one: Any, span: TileSpan, sums: Any) -> None:
    """Add a tile's rows to ``(rows * part,)`` partial sums: the gradient of a bias."""
    ones = splat(one)
    for row in range(rows):
        held = load_part(sums, row * span.part)
        store(sums, row * span.part, add_dot(held, ones, load(tile, row * span.lanes)))


@inner_function
def add_up(sums: Any, count: int, part: int, out: Any) -> None:
    """``out[i]``: the total of the i-th partial sums."""
    for i in range(count):
        out[i] = total(load_part(sums, i * part))


@inner_function
def turn(values: Any, order: Any, count: int, turned: Any) -> None:
    """The values in another order."""
    for i in range(count):
        turned[i] = values[order[i]]
