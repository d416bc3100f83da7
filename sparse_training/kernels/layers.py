"""A layer of a table: its products with tiles, whichever unit it keeps."""

from __future__ import annotations

from typing import Any

from marl_common import inner_function
from sparse_training.kernels.block4 import add_block_gradients, multiply_blocks
from sparse_training.kernels.csr import add_gradients, multiply_rows
from sparse_training.kernels.tiles import TileSpan
from sparse_training.kernels.vectors import after, numbers_at, places_at

OUTPUTS, INPUTS, KEPT, READS, GIVES, RESULT, RELU, BLOCKS = range(8)
"""Columns of a table of layers: sizes, kept numbers, first rows of the tile that the layer reads
and gives, first row of the result that it gives (-1: none), and whether it has a ReLU and keeps
blocks."""
STARTS, PLACES, NUMBERS, STARTS_ACROSS, PLACES_ACROSS, ORDER = range(8, 14)
VALUES, BIAS, FOR_VALUES, FOR_BIAS, WIDTH = range(14, 19)
"""The others are addresses of its index, weights and gradients, 0 where there is none."""


@inner_function(forceinline=True)
def whole_of(span: TileSpan) -> TileSpan:
    """A tile itself as an array of which it holds all columns."""
    return TileSpan(span.lanes, 0, span.lanes, span.lanes, span.part)


@inner_function
def multiply(
    one: Any, layer: Any, part: Any, tile: Any, out: Any, span: TileSpan, spare: Any
) -> None:
    """Multiply a tile by a layer, and write into another.

    Args:
        one: A 1 of the type of the numbers.
        layer: A row of a table.
        part: First output and how many; whole blocks come before it.
        tile: What is multiplied.
        out: Where the outputs go.
        span: Columns of `out`.
        spare: Room for a vector.
    """
    first, count = part
    places = places_at(layer[PLACES])
    flags = layer[BIAS] != 0, layer[RELU] != 0
    values, bias = numbers_at(layer[VALUES], one), after(numbers_at(layer[BIAS], one), first)
    if layer[BLOCKS] != 0:
        starts = after(places_at(layer[STARTS]), first // 4)
        index = count, starts, places, places_at(layer[NUMBERS])
        multiply_blocks(values, index, (4, 1), bias, flags, tile, out, span, spare)
    else:
        rows = count, after(places_at(layer[STARTS]), first), places
        multiply_rows(values, rows, bias, flags, tile, out, span, spare)


@inner_function
def multiply_across(
    one: Any, layer: Any, part: Any, turned: Any, tile: Any, out: Any, span: TileSpan, spare: Any
) -> None:
    """Multiply the tile of a gradient by a layer's weights across; single ones are `turned`.

    `part` is the first input and how many; the others are those of :func:`multiply`.
    """
    first, count = part
    places = places_at(layer[PLACES_ACROSS])
    flags = False, False
    if layer[BLOCKS] != 0:
        starts = after(places_at(layer[STARTS_ACROSS]), first // 4)
        index = count, starts, places, places_at(layer[ORDER])
        values = numbers_at(layer[VALUES], one)
        multiply_blocks(values, index, (1, 4), spare, flags, tile, out, span, spare)
    else:
        rows = count, after(places_at(layer[STARTS_ACROSS]), first), places
        multiply_rows(turned, rows, spare, flags, tile, out, span, spare)


@inner_function
def add_weight_gradients(layer: Any, above: Any, below: Any, span: TileSpan, sums: Any) -> None:
    """Add a tile's part to the gradients of a layer's weights."""
    starts, places = places_at(layer[STARTS]), places_at(layer[PLACES])
    if layer[BLOCKS] != 0:
        index = layer[OUTPUTS], starts, places, places_at(layer[NUMBERS])
        add_block_gradients(index, above, below, span, sums)
    else:
        add_gradients((layer[OUTPUTS], starts, places), above, below, span, sums)
