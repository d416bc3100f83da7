"""Several layers in one pass over the columns, compiled for the CPU.

A tile goes through all layers before the next one is begun, so that what lies between them stays in
the cache, and a network of a few hundred weights costs one call instead of one for each layer. The
sums are those of the layers by themselves, number by number.

A tile holds the rows of the input and, below them, those that each layer gives; a layer reads rows
of the input or of a layer before it. Room is rounded up to whole blocks, with zeros. Tiles that are
kept for the backward pass lie one after the other as they are: nothing is copied.
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
    GIVES,
    INPUTS,
    KEPT,
    ORDER,
    OUTPUTS,
    READS,
    RELU,
    RESULT,
    VALUES,
    WIDTH,
    add_weight_gradients,
    multiply,
    multiply_across,
    whole_of,
)
from sparse_training.kernels.tiles import TileSpan, clear, pack, write
from sparse_training.kernels.vectors import (
    addresses_at,
    after,
    load,
    numbers_at,
    places_at,
    stamp_of,
    store,
    where_positive,
)


@inner_function
def clear_padding(table: Any, layers: int, inputs: int, tile: Any, lanes: int) -> None:
    """The rows that round room up to whole blocks become 0."""
    clear(tile, inputs, -(-inputs // 4) * 4, lanes)
    for layer in range(layers):
        row = after(table, layer * WIDTH)
        outputs = row[OUTPUTS]
        clear(after(tile, row[GIVES] * lanes), outputs, -(-outputs // 4) * 4, lanes)


@inner_function
def turn_all(one: Any, table: Any, layers: int, turned: Any) -> None:
    """The single weights of all layers in the order of their columns."""
    for layer in range(layers):
        row = after(table, layer * WIDTH)
        if row[BLOCKS] == 0:
            turn(numbers_at(row[VALUES], one), places_at(row[ORDER]), row[KEPT], turned)
        turned = after(turned, row[KEPT])


@inner_function
def mask_rows(gradient: Any, output: Any, rows: int, lanes: int) -> None:
    """The gradient below a ReLU that gave `output`, both tiles."""
    for at in range(0, rows * lanes, lanes):
        store(gradient, at, where_positive(load(gradient, at), load(output, at)))


@inner_function
def add_up_all(one: Any, table: Any, layers: int, part: int, sums: Any) -> None:
    """Write the gradients of all weights and biases."""
    for layer in range(layers):
        row = after(table, layer * WIDTH)
        add_up(sums, row[KEPT], part, numbers_at(row[FOR_VALUES], one))
        sums = after(sums, row[KEPT] * part)
        if row[FOR_BIAS] != 0:
            add_up(sums, row[OUTPUTS], part, numbers_at(row[FOR_BIAS], one))
            sums = after(sums, row[OUTPUTS] * part)


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Arrays are given by their addresses; `one` has the type of their numbers.
    """

    @entry_point(error_model="numpy")
    def forward(
        one: Any, sizes: Any, rows_of: int, x: int, out: int, tiles: int, step: int, work: int
    ) -> int:
        layers, inputs, _, rows, lanes, part = sizes
        table, below, above = addresses_at(rows_of), numbers_at(x, one), numbers_at(out, one)
        tile, spare = numbers_at(tiles, one), numbers_at(work, one)
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            if first == 0 or step != 0:
                clear_padding(table, layers, inputs, tile, lanes)
            pack(below, inputs, span, tile)
            for layer in range(layers):
                row = after(table, layer * WIDTH)
                source, given = after(tile, row[READS] * lanes), after(tile, row[GIVES] * lanes)
                whole = 0, row[OUTPUTS]
                multiply(one, row, whole, source, given, whole_of(span), spare)
                if row[RESULT] >= 0:
                    for i in range(row[OUTPUTS]):
                        write(load(given, i * lanes), above, row[RESULT] + i, span, spare)
            tile = after(tile, step)
        return stamp

    @entry_point(error_model="numpy")
    def backward(
        one: Any, sizes: Any, rows_of: int, tiles: int, above: int, room: Any, work: int
    ) -> int:
        layers, inputs, height, rows, lanes, part = sizes
        weights, numbers = room
        table, tile, given = addresses_at(rows_of), numbers_at(tiles, one), numbers_at(above, one)
        spare = numbers_at(work, one)
        slopes = after(spare, lanes)
        turned = after(slopes, height * lanes)
        sums = after(turned, weights)
        turn_all(one, table, layers, turned)
        clear(slopes, 0, height, lanes)
        for i in range(numbers * part):
            sums[i] = 0
        for first in range(0, rows, lanes):
            span = TileSpan(rows, first, min(lanes, rows - first), lanes, part)
            sums_at, turned_at = after(sums, numbers * part), after(turned, weights)
            for layer in range(layers - 1, -1, -1):
                row = after(table, layer * WIDTH)
                source, slope = after(tile, row[READS] * lanes), after(slopes, row[GIVES] * lanes)
                if row[RESULT] >= 0:
                    pack(after(given, row[RESULT] * rows), row[OUTPUTS], span, slope)
                if row[RELU] != 0:
                    mask_rows(slope, after(tile, row[GIVES] * lanes), row[OUTPUTS], lanes)
                turned_at = after(turned_at, -row[KEPT])
                if row[READS] >= inputs:
                    to = after(slopes, row[READS] * lanes)
                    whole = 0, row[INPUTS]
                    multiply_across(one, row, whole, turned_at, slope, to, whole_of(span), spare)
                if row[FOR_BIAS] != 0:
                    sums_at = after(sums_at, -row[OUTPUTS] * part)
                    add_row_sums(slope, row[OUTPUTS], one, span, sums_at)
                sums_at = after(sums_at, -row[KEPT] * part)
                add_weight_gradients(row, slope, source, span, sums_at)
            tile = after(tile, height * lanes)
        add_up_all(one, table, layers, part, sums)
        return stamp

    return forward, backward


forward, backward = _entries(stamp_of("passes", "layers", "block4", "csr", "tiles"))
"""Forward and backward passes; they release the interpreter lock."""
