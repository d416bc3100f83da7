"""Products with single kept weights (compressed rows), compiled for the CPU.

For each tile of columns a row of sums is held in registers while it goes over the row's kept
weights: one read of the tile and one multiply-add for each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import entry_point, inner_function, source_stamp
from sparse_training.kernels.tiles import pack, pack_where, write
from sparse_training.kernels.vectors import (
    add_dot,
    add_scaled,
    load,
    load_sums,
    positive,
    splat,
    store,
    total,
    zeros,
)


@inner_function
def multiply_rows(
    values: Any, index: Any, bias: Any, relu: bool, tile: Any, out: Any, span: Any, spare: Any
) -> None:
    """``out = act(W tile + bias)`` in the columns of a tile.

    Args:
        values: ``(k,)`` kept weights, row by row.
        index: First weight of each row and one past the last; column of each weight.
        bias: ``(rows,)``, or empty.
        relu: Whether there is one.
        tile: The tile of the input.
        out: ``(rows, columns)``.
        span: First column, columns, and numbers of a vector.
        spare: Room for a vector.
    """
    starts, columns = index
    first, width, lanes = span
    for row in range(len(starts) - 1):
        sums = splat(bias[row]) if len(bias) else zeros(tile)
        for at in range(starts[row], starts[row + 1]):
            sums = add_scaled(sums, values[at], load(tile, columns[at] * lanes))
        if relu:
            sums = positive(sums)
        write(sums, out, row, first, width, lanes, spare)


@inner_function
def add_gradients(
    index: Any, above: Any, below: Any, lanes: int, part: int, sums: Any, bias_sums: Any
) -> None:
    """Add a tile's part to the gradients of the kept weights and the bias.

    Args:
        index: As in :func:`multiply_rows`.
        above: Tile of the gradient of the output.
        below: Tile of the input.
        lanes: Numbers of a wide vector.
        part: Numbers of a narrow one.
        sums: ``(k * part,)`` partial sums of each weight.
        bias_sums: ``(rows * part,)``, or empty.
    """
    starts, columns = index
    ones = splat(above.dtype.type(1))
    for row in range(len(starts) - 1):
        gradient = load(above, row * lanes)
        if len(bias_sums):
            held = load_sums(bias_sums, row * part)
            store(bias_sums, row * part, add_dot(held, ones, gradient))
        for at in range(starts[row], starts[row + 1]):
            other = load(below, columns[at] * lanes)
            store(sums, at * part, add_dot(load_sums(sums, at * part), gradient, other))


@inner_function
def add_up(sums: Any, part: int, out: Any) -> None:
    """``out[i]``: the total of the i-th partial sums."""
    for i in range(len(out)):
        out[i] = total(load_sums(sums, i * part))


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources."""

    @entry_point(error_model="numpy")
    def forward(
        values: Any, index: Any, bias: Any, relu: bool, x: Any, out: Any, lanes: int, work: Any
    ) -> int:
        tile, spare = work[: len(x) * lanes], work[len(x) * lanes :]
        rows = x.shape[1]
        for first in range(0, rows, lanes):
            width = min(lanes, rows - first)
            pack(x, first, width, lanes, tile)
            multiply_rows(values, index, bias, relu, tile, out, (first, width, lanes), spare)
        return stamp

    @entry_point(error_model="numpy")
    def backward(
        index: Any,
        values_across: Any,
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
        spare, rest = work[:lanes], work[lanes:]
        tile, rest = rest[: inputs * lanes], rest[inputs * lanes :]
        tile_above, rest = rest[: len(above) * lanes], rest[len(above) * lanes :]
        sums, bias_sums = rest[: len(for_values) * part], rest[len(for_values) * part :]
        sums[:] = 0
        bias_sums[:] = 0
        for first in range(0, rows, lanes):
            width = min(lanes, rows - first)
            if len(y):
                pack_where(above, y, first, width, lanes, tile_above)
            else:
                pack(above, first, width, lanes, tile_above)
            if len(for_x):
                span = (first, width, lanes)
                multiply_rows(
                    values_across, index_across, for_bias[:0], False, tile_above, for_x, span, spare
                )
            pack(x, first, width, lanes, tile)
            add_gradients(index, tile_above, tile, lanes, part, sums, bias_sums)
        add_up(sums, part, for_values)
        add_up(bias_sums, part, for_bias)
        return stamp

    return forward, backward


forward, backward = _entries(
    source_stamp(Path(__file__).with_name(f"{name}.py") for name in ("csr", "tiles", "vectors"))
)
"""Forward and backward products; they release the interpreter lock."""
