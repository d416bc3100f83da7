"""Products with kept blocks of 4 x 4 weights, compiled for the CPU.

Four rows of sums are held in registers: 16 multiply-adds for four reads of the tile. Rows and
columns beyond the edges of a layer are zeros in tiles and blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import entry_point, inner_function, source_stamp
from sparse_training.kernels.csr import add_up
from sparse_training.kernels.tiles import clear, pack, pack_where, write
from sparse_training.kernels.vectors import (
    add_dot,
    add_scaled,
    load,
    load_sums,
    positive,
    splat,
    store,
    zeros,
)


@inner_function
def multiply_blocks(
    values: Any, index: Any, strides: Any, tile: Any, bias: Any, relu: bool, out: Any,
    span: Any, spare: Any,
) -> None:  # fmt: skip
    """``out = act(W tile + bias)`` in the columns of a tile.

    Args:
        values: ``(blocks * 16,)`` kept weights.
        index: First block of each row of blocks and one past the last; of each block in that
            order its column and its number in `values`.
        strides: From one output, and from one input, to the next in a block.
        tile: The tile of the input.
        bias: ``(rows,)``, or empty.
        relu: Whether there is one.
        out: ``(rows, columns)``.
        span: First column, columns, and numbers of a vector.
        spare: Room for a vector.
    """
    starts, columns, numbers = index
    down, across = strides
    lanes = span[2]
    for group in range(len(starts) - 1):
        a = b = c = d = zeros(tile)
        for i in range(starts[group], starts[group + 1]):
            at, from_row = numbers[i] * 16, columns[i] * 4
            for j in range(4):
                x = load(tile, (from_row + j) * lanes)
                w = at + j * across
                a = add_scaled(a, values[w], x)
                b = add_scaled(b, values[w + down], x)
                c = add_scaled(c, values[w + 2 * down], x)
                d = add_scaled(d, values[w + 3 * down], x)
        row = group * 4
        finish(a, bias, relu, out, row, span, spare)
        finish(b, bias, relu, out, row + 1, span, spare)
        finish(c, bias, relu, out, row + 2, span, spare)
        finish(d, bias, relu, out, row + 3, span, spare)


@inner_function(forceinline=True)
def finish(sums: Any, bias: Any, relu: bool, out: Any, row: int, span: Any, spare: Any) -> None:
    """Add the bias, cut at 0 and write a row of sums, unless it is beyond the last one."""
    first, width, lanes = span
    if row < len(out):
        if len(bias):
            sums = add_scaled(sums, bias[row], splat(out.dtype.type(1)))
        if relu:
            sums = positive(sums)
        write(sums, out, row, first, width, lanes, spare)


@inner_function
def add_block_gradients(
    index: Any, above: Any, below: Any, lanes: int, part: int, sums: Any, bias_sums: Any
) -> None:
    """Add a tile's part to the gradients of the kept blocks and the bias.

    Args:
        index: As in :func:`multiply_blocks`, blocks in the order of their numbers.
        above: Tile of the gradient of the output.
        below: Tile of the input.
        lanes: Numbers of a wide vector.
        part: Numbers of a narrow one.
        sums: ``(blocks * 16 * part,)`` partial sums of each weight.
        bias_sums: ``(rows * part,)``, or empty.
    """
    starts, columns, _ = index
    ones = splat(above.dtype.type(1))
    for row in range(len(bias_sums) // part):
        held = load_sums(bias_sums, row * part)
        store(bias_sums, row * part, add_dot(held, ones, load(above, row * lanes)))
    for group in range(len(starts) - 1):
        top = group * 4 * lanes
        a, b = load(above, top), load(above, top + lanes)
        c, d = load(above, top + 2 * lanes), load(above, top + 3 * lanes)
        for i in range(starts[group], starts[group + 1]):
            for j in range(4):
                x = load(below, (columns[i] * 4 + j) * lanes)
                at = (i * 16 + j) * part
                store(sums, at, add_dot(load_sums(sums, at), a, x))
                at += 4 * part
                store(sums, at, add_dot(load_sums(sums, at), b, x))
                at += 4 * part
                store(sums, at, add_dot(load_sums(sums, at), c, x))
                at += 4 * part
                store(sums, at, add_dot(load_sums(sums, at), d, x))


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources."""

    @entry_point(error_model="numpy")
    def forward(
        values: Any, index: Any, bias: Any, relu: bool, x: Any, out: Any, lanes: int, work: Any
    ) -> int:
        inputs, rows = x.shape
        wide = -(-inputs // 4) * 4
        spare, tile = work[:lanes], work[lanes : (wide + 1) * lanes]
        clear(tile, inputs, wide, lanes)
        for first in range(0, rows, lanes):
            width = min(lanes, rows - first)
            pack(x, first, width, lanes, tile)
            span = (first, width, lanes)
            multiply_blocks(values, index, (4, 1), tile, bias, relu, out, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def backward(
        index: Any,
        values: Any,
        index_across: Any,
        x: Any,
        y: Any,
        above: Any,
        for_x: Any,
        for_values: Any,
        for_bias: Any,
        lanes: int,
        part: int,
        work: Any,
    ) -> int:
        inputs, rows = x.shape
        outputs = len(above)
        wide, high = -(-inputs // 4) * 4, -(-outputs // 4) * 4
        spare, rest = work[:lanes], work[lanes:]
        tile, rest = rest[: wide * lanes], rest[wide * lanes :]
        tile_above, rest = rest[: high * lanes], rest[high * lanes :]
        sums, bias_sums = rest[: len(for_values) * part], rest[len(for_values) * part :]
        clear(tile, inputs, wide, lanes)
        clear(tile_above, outputs, high, lanes)
        sums[:] = 0
        bias_sums[:] = 0
        for first in range(0, rows, lanes):
            width = min(lanes, rows - first)
            if len(y):
                pack_where(above, y, first, width, lanes, tile_above)
            else:
                pack(above, first, width, lanes, tile_above)
            if len(for_x):
                multiply_blocks(
                    values, index_across, (1, 4), tile_above, for_bias[:0], False, for_x,
                    (first, width, lanes), spare,
                )  # fmt: skip
            pack(x, first, width, lanes, tile)
            add_block_gradients(index, tile_above, tile, lanes, part, sums, bias_sums)
        add_up(sums, part, for_values)
        add_up(bias_sums, part, for_bias)
        return stamp

    return forward, backward


forward, backward = _entries(
    source_stamp(
        Path(__file__).with_name(f"{name}.py") for name in ("block4", "csr", "tiles", "vectors")
    )
)
"""Forward and backward products; they release the interpreter lock."""
