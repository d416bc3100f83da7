"""One layer by itself, features first or samples first, compiled for the CPU.

Columns of samples are read and written as they lie. Rows of samples are turned inside of the cache,
a square of numbers at a time, so that each array is still read and written once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marl_common import entry_point, inner_function
from sparse_training.kernels.csr import add_row_sums, add_up, turn
from sparse_training.kernels.layers import (
    BLOCKS,
    FOR_BIAS,
    FOR_VALUES,
    INPUTS,
    KEPT,
    ORDER,
    OUTPUTS,
    VALUES,
    add_weight_gradients,
    multiply,
    multiply_across,
    whole_of,
)
from sparse_training.kernels.squares import pack_rows, write_rows
from sparse_training.kernels.tiles import TileSpan, clear, pack, pack_where
from sparse_training.kernels.vectors import after, numbers_at, places_at, stamp_of


@inner_function
def whole_blocks(features: int) -> int:
    """Features rounded up to whole blocks."""
    return -(-features // 4) * 4


@inner_function
def pack_above(gradient: Any, y: Any, relu: bool, count: int, span: TileSpan, tile: Any) -> None:
    """Copy columns of a gradient into a tile, masked by the output of a ReLU where there is one."""
    if relu:
        pack_where(gradient, y, count, span, tile)
    else:
        pack(gradient, count, span, tile)


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Arrays are given by their addresses, 0 where there is none: input, output and room to work;
    backward input, output of a ReLU, gradient above and below, and room. `one` has the type of
    their numbers, `layer` is a row of a table (`kernels.layers`).
    """

    @entry_point(error_model="numpy")
    def forward(one: Any, sizes: Any, layer: Any, arrays: Any, rows_first: bool) -> int:
        (rows, lanes, part), (x, out, work) = sizes, arrays
        inputs, outputs = layer[INPUTS], layer[OUTPUTS]
        below, above = numbers_at(x, one), numbers_at(out, one)
        spare = numbers_at(work, one)
        strip = after(spare, lanes)
        tile = after(strip, part * lanes)
        clear(tile, inputs, whole_blocks(inputs), lanes)
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            if rows_first:
                pack_rows(below, below, False, inputs, span, tile)
                for at in range(0, outputs, part):
                    some = at, min(part, outputs - at)
                    multiply(one, layer, some, tile, strip, whole_of(span), spare)
                    write_rows(strip, some[1], above, at, outputs, span)
            else:
                pack(below, inputs, span, tile)
                multiply(one, layer, (0, outputs), tile, above, span, spare)
        return stamp

    @entry_point(error_model="numpy")
    def backward(one: Any, sizes: Any, layer: Any, arrays: Any, rows_first: bool) -> int:
        (rows, lanes, part), (x, y, above, for_x, work) = sizes, arrays
        inputs, outputs, kept = layer[INPUTS], layer[OUTPUTS], layer[KEPT]
        ours, gradient, output = numbers_at(x, one), numbers_at(above, one), numbers_at(y, one)
        below = numbers_at(for_x, one)
        spare = numbers_at(work, one)
        strip = after(spare, lanes)
        tile = after(strip, part * lanes)
        tile_above = after(tile, whole_blocks(inputs) * lanes)
        sums = after(tile_above, whole_blocks(outputs) * lanes)
        bias_sums = after(sums, kept * part)
        turned = after(bias_sums, outputs * part)
        if layer[BLOCKS] == 0:
            turn(numbers_at(layer[VALUES], one), places_at(layer[ORDER]), kept, turned)
        clear(tile, inputs, whole_blocks(inputs), lanes)
        clear(tile_above, outputs, whole_blocks(outputs), lanes)
        for i in range((kept + outputs) * part):
            sums[i] = 0
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            if rows_first:
                pack_rows(gradient, output, y != 0, outputs, span, tile_above)
                for at in range(0, inputs if for_x != 0 else 0, part):
                    some = at, min(part, inputs - at)
                    multiply_across(
                        one, layer, some, turned, tile_above, strip, whole_of(span), spare
                    )
                    write_rows(strip, some[1], below, at, inputs, span)
                pack_rows(ours, ours, False, inputs, span, tile)
            else:
                pack_above(gradient, output, y != 0, outputs, span, tile_above)
                if for_x != 0:
                    some = 0, inputs
                    multiply_across(one, layer, some, turned, tile_above, below, span, spare)
                pack(ours, inputs, span, tile)
            add_weight_gradients(layer, tile_above, tile, span, sums)
            if layer[FOR_BIAS] != 0:
                add_row_sums(tile_above, outputs, one, span, bias_sums)
        add_up(sums, kept, part, numbers_at(layer[FOR_VALUES], one))
        if layer[FOR_BIAS] != 0:
            add_up(bias_sums, outputs, part, numbers_at(layer[FOR_BIAS], one))
        return stamp

    return forward, backward


forward, backward = _entries(stamp_of("single", "layers", "block4", "csr", "squares", "tiles"))
"""Forward and backward products; they release the interpreter lock."""
