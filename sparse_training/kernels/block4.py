"""Products with kept blocks of 4 x 4 weights, compiled for the CPU.

Four rows of sums are held in registers: 16 multiply-adds for four reads of the tile. Rows and
columns beyond the edges of a layer are zeros in tiles and blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import entry_point, inner_function, source_stamp
from sparse_training.kernels.csr import add_row_sums, add_up
from sparse_training.kernels.tiles import TileSpan, clear, pack, pack_where, write
from sparse_training.kernels.vectors import (
    add,
    add_dot,
    add_scaled,
    after,
    load,
    load_part,
    numbers_at,
    places_at,
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


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Arrays are given by their addresses, 0 where there is none; `one` has the type of their numbers.
    """

    @entry_point(error_model="numpy")
    def forward(
        one: Any, sizes: Any, starts: int, columns: int, numbers: int, values: int, bias: int,
        relu: bool, x: int, out: int, work: int,
    ) -> int:  # fmt: skip
        outputs, inputs, rows, _, lanes, part = sizes
        spare = numbers_at(work, one)
        tile = after(spare, lanes)
        index = outputs, places_at(starts), places_at(columns), places_at(numbers)
        flags = bias != 0, relu
        held, added = numbers_at(values, one), numbers_at(bias, one)
        below, above = numbers_at(x, one), numbers_at(out, one)
        clear(tile, inputs, -(-inputs // 4) * 4, lanes)
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            pack(below, inputs, span, tile)
            multiply_blocks(held, index, (4, 1), added, flags, tile, above, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def backward(
        one: Any, sizes: Any, starts: int, columns: int, numbers: int, starts_across: int,
        rows_across: int, order: int, values: int, x: int, y: int, above: int, for_x: int,
        for_values: int, for_bias: int, work: int,
    ) -> int:  # fmt: skip
        outputs, inputs, rows, kept, lanes, part = sizes
        along = outputs, places_at(starts), places_at(columns), places_at(numbers)
        across = inputs, places_at(starts_across), places_at(rows_across), places_at(order)
        ours, gradient, output = numbers_at(x, one), numbers_at(above, one), numbers_at(y, one)
        held, wide, high = numbers_at(values, one), -(-inputs // 4) * 4, -(-outputs // 4) * 4
        spare = numbers_at(work, one)
        tile = after(spare, lanes)
        tile_above = after(tile, wide * lanes)
        sums = after(tile_above, high * lanes)
        bias_sums = after(sums, kept * part)
        clear(tile, inputs, wide, lanes)
        clear(tile_above, outputs, high, lanes)
        for i in range((kept + outputs) * part):
            sums[i] = 0
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            if y != 0:
                pack_where(gradient, output, outputs, span, tile_above)
            else:
                pack(gradient, outputs, span, tile_above)
            if for_x != 0:
                multiply_blocks(
                    held, across, (1, 4), spare, (False, False), tile_above,
                    numbers_at(for_x, one), span, spare,
                )  # fmt: skip
            pack(ours, inputs, span, tile)
            add_block_gradients(along, tile_above, tile, span, sums)
            if for_bias != 0:
                add_row_sums(tile_above, outputs, one, span, bias_sums)
        add_up(sums, kept, part, numbers_at(for_values, one))
        if for_bias != 0:
            add_up(bias_sums, outputs, part, numbers_at(for_bias, one))
        return stamp

    return forward, backward


forward, backward = _entries(
    source_stamp(
        Path(__file__).with_name(f"{name}.py") for name in ("block4", "csr", "tiles", "vectors")
    )
)
"""Forward and backward products; they release the interpreter lock."""
