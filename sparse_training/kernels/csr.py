"""Products with single kept weights (compressed rows), compiled for the CPU.

For each tile of columns a row of sums is held in registers while it goes over the row's kept
weights: one read of the tile and one multiply-add for each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import entry_point, inner_function, source_stamp
from sparse_training.kernels.tiles import TileSpan, pack, pack_where, write
from sparse_training.kernels.vectors import (
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


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Arrays are given by their addresses, 0 where there is none; `one` has the type of their numbers.
    """

    @entry_point(error_model="numpy")
    def forward(
        one: Any, sizes: Any, starts: int, columns: int, _: int, values: int, bias: int, relu: bool,
        x: int, out: int, work: int,
    ) -> int:  # fmt: skip
        outputs, inputs, rows, _, lanes, part = sizes
        spare = numbers_at(work, one)
        tile = after(spare, lanes)
        index = outputs, places_at(starts), places_at(columns)
        flags = bias != 0, relu
        held, added = numbers_at(values, one), numbers_at(bias, one)
        below, above = numbers_at(x, one), numbers_at(out, one)
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            pack(below, inputs, span, tile)
            multiply_rows(held, index, added, flags, tile, above, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def backward(
        one: Any, sizes: Any, starts: int, columns: int, _: int, starts_across: int,
        rows_across: int, order: int, values: int, x: int, y: int, above: int, for_x: int,
        for_values: int, for_bias: int, work: int,
    ) -> int:  # fmt: skip
        outputs, inputs, rows, kept, lanes, part = sizes
        along = outputs, places_at(starts), places_at(columns)
        across = inputs, places_at(starts_across), places_at(rows_across)
        ours, gradient, output = numbers_at(x, one), numbers_at(above, one), numbers_at(y, one)
        spare = numbers_at(work, one)
        tile = after(spare, lanes)
        tile_above = after(tile, inputs * lanes)
        sums = after(tile_above, outputs * lanes)
        bias_sums = after(sums, kept * part)
        turned = after(bias_sums, outputs * part)
        turn(numbers_at(values, one), places_at(order), kept, turned)
        for i in range((kept + outputs) * part):
            sums[i] = 0
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            if y != 0:
                pack_where(gradient, output, outputs, span, tile_above)
            else:
                pack(gradient, outputs, span, tile_above)
            if for_x != 0:
                multiply_rows(
                    turned, across, spare, (False, False), tile_above, numbers_at(for_x, one),
                    span, spare,
                )  # fmt: skip
            pack(ours, inputs, span, tile)
            add_gradients(along, tile_above, tile, span, sums)
            if for_bias != 0:
                add_row_sums(tile_above, outputs, one, span, bias_sums)
        add_up(sums, kept, part, numbers_at(for_values, one))
        if for_bias != 0:
            add_up(bias_sums, outputs, part, numbers_at(for_bias, one))
        return stamp

    return forward, backward


@inner_function
def turn(values: Any, order: Any, count: int, turned: Any) -> None:
    """The values in another order."""
    for i in range(count):
        turned[i] = values[order[i]]


forward, backward = _entries(
    source_stamp(Path(__file__).with_name(f"{name}.py") for name in ("csr", "tiles", "vectors"))
)
"""Forward and backward products; they release the interpreter lock."""
