"""Products with kept blocks of 4 x 4 weights, compiled for the CPU.

Four rows of sums are held in registers: 16 multiply-adds for four reads of the tile. Rows and
columns beyond the edges of a layer are zeros in tiles and blocks.
"""

from __future__ import annotations

from typing import Any

from marl_common import inner_function
from sparse_training.kernels.tiles import TileSpan, write
from sparse_training.kernels.vectors import (
    add,
    add_dot,
    add_scaled,
    load,
    load_part,
    positive,
    splat,
    store,
    zeros,
)


@inner_function
def multiply_blocks(
    values: Any, index: Any, strides: Any, bias: Any, flags: Any, tile: Any, out: Any,
    span: TileSpan, spare: Any,
) -> None:  # fmt: skip
    """``out = act(W tile + bias)`` in the columns of a tile.

    Args:
        values: ``(blocks * 16,)`` kept weights.
        index: Rows; first block of each row of blocks and one past the last; of each block in that
            order its column and its number in `values`.
        strides: From one output, and from one input, to the next in a block.
        bias: ``(rows,)``.
        flags: Whether there is a bias, and a ReLU.
        tile: The tile of the input.
        out: ``(rows, columns)``.
        span: The tile's columns.
        spare: Room for a vector.
    """
    rows, starts, columns, numbers = index
    down, across = strides
    for row in range(0, rows, 4):
        group = row // 4
        a = b = c = d = zeros(tile)
        for i in range(starts[group], starts[group + 1]):
            at, from_row = numbers[i] * 16, columns[i] * 4
            for j in range(4):
                x = load(tile, (from_row + j) * span.lanes)
                w = at + j * across
                a = add_scaled(a, values[w], x)
                b = add_scaled(b, values[w + down], x)
                c = add_scaled(c, values[w + 2 * down], x)
                d = add_scaled(d, values[w + 3 * down], x)
        finish(a, bias, flags, out, row, rows, span, spare)
        finish(b, bias, flags, out, row + 1, rows, span, spare)
        finish(c, bias, flags, out, row + 2, rows, span, spare)
        finish(d, bias, flags, out, row + 3, rows, span, spare)


@inner_function(forceinline=True)
def finish(
    sums: Any, bias: Any, flags: Any, out: Any, row: int, rows: int, span: TileSpan, spare: Any
) -> None:
    """Add the bias, cut at 0 and write a row of sums, unless it is beyond the last one."""
    has_bias, relu = flags
    if row < rows:
        if has_bias:
            sums = add(sums, splat(bias[row]))
        if relu:
            sums = positive(sums)
        write(sums, out, row, span, spare)


@inner_function
def add_block_gradients(index: Any, above: Any, below: Any, span: TileSpan, sums: Any) -> None:
    """Add a tile's part to the gradients of the kept blocks.

    Args:
        index: As in :func:`multiply_blocks`, blocks in the order of their numbers.
        above: Tile of the gradient of the output.
        below: Tile of the input.
        span: The tiles' columns.
        sums: ``(blocks * 16 * part,)`` partial sums of each weight.
    """
    rows, starts, columns, _ = index
    lanes, part = span.lanes, span.part
    for row in range(0, rows, 4):
        top, group = row * lanes, row // 4
        a, b = load(above, top), load(above, top + lanes)
        c, d = load(above, top + 2 * lanes), load(above, top + 3 * lanes)
        for i in range(starts[group], starts[group + 1]):
            for j in range(4):
                x = load(below, (columns[i] * 4 + j) * lanes)
                at = (i * 16 + j) * part
                store(sums, at, add_dot(load_part(sums, at), a, x))
                at += 4 * part
                store(sums, at, add_dot(load_part(sums, at), b, x))
                at += 4 * part
                store(sums, at, add_dot(load_part(sums, at), c, x))
                at += 4 * part
                store(sums, at, add_dot(load_part(sums, at), d, x))
