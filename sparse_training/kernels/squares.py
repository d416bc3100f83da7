"""Copies between row-major arrays and tiles: squares of numbers whose rows become columns."""

from __future__ import annotations

from typing import Any

from numba import types

from marl_common import at_number, inner_function, intrinsic, ir
from sparse_training.kernels.tiles import TileSpan, clear
from sparse_training.kernels.vectors import NARROW, vector_of


def _turner(switched: bool) -> Any:
    def turn(
        typing_context: Any, source: Any, switch: Any, at: Any, stride: Any, target: Any, to: Any,
        step: Any,
    ) -> Any:  # fmt: skip
        vector = vector_of(source.dtype, NARROW)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            given, asked, at, stride, target, to, step = args
            kind, align = context.get_value_type(vector), source.dtype.bitwidth // 8

            def place(numbers: Any, first: Any, each: Any, i: int) -> Any:
                offset = builder.add(first, builder.mul(each, each.type(i)))
                return builder.bitcast(at_number(builder, numbers, offset), kind.as_pointer())

            def row(numbers: Any, i: int) -> Any:
                return builder.load(place(numbers, at, stride, i), align=align)

            rows = [row(given, i) for i in range(vector.lanes)]
            if switched:
                zero = ir.Constant(kind, None)
                above = [builder.fcmp_ordered(">", row(asked, i), zero) for i in range(len(rows))]
                rows = [builder.select(*pair, zero) for pair in zip(above, rows, strict=True)]
            for i, turned in enumerate(_turned(builder, rows)):
                builder.store(turned, place(target, to, step, i), align=align)
            return context.get_dummy_value()

        places = (types.intp,) * 2
        return types.void(source, switch, *places, target, *places), generate

    return intrinsic(turn)


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of a square of vectors: blocks off the diagonal change places, halves first."""
    rows, distance = list(rows), len(rows) // 2
    while distance:
        for i in (i for i in range(len(rows)) if not i & distance):
            pair, lanes = (rows[i], rows[i + distance]), range(len(rows))
            low = [j + (len(rows) - distance) * (j & distance > 0) for j in lanes]
            order = ir.VectorType(ir.IntType(32), len(rows))
            rows[i] = builder.shuffle_vector(*pair, ir.Constant(order, low))
            rows[i + distance] = builder.shuffle_vector(
                *pair, ir.Constant(order, [j + distance for j in low])
            )
        distance //= 2
    return rows


turn_square, turn_where = _turner(switched=False), _turner(switched=True)
"""``turn_square(source, _, at, stride, target, to, step)``: copy a square of numbers, as many a
side as a narrow vector has, whose rows lie `stride` apart, so that its columns lie `step` apart.
``turn_where(source, switch, ...)``: 0 wherever the same place of `switch` is not above 0."""


@inner_function
def pack_rows(x: Any, y: Any, masked: bool, features: int, span: TileSpan, tile: Any) -> None:
    """Copy rows of ``x`` ``(rows, features)`` into a tile, each to a column.

    Where `masked`, numbers are 0 wherever ``y`` is not above 0: the gradient below the ReLU that
    gave ``y``.
    """
    part = span.part
    wide, high = features - features % part, span.width - span.width % part
    if span.width < span.lanes:
        clear(tile, 0, features, span.lanes)
    for feature in range(0, wide, part):
        for row in range(0, high, part):
            at, to = (span.first + row) * features + feature, feature * span.lanes + row
            if masked:
                turn_where(x, y, at, features, tile, to, span.lanes)
            else:
                turn_square(x, y, at, features, tile, to, span.lanes)
    for row in range(span.width):
        for feature in range(wide if row < high else 0, features):
            at = (span.first + row) * features + feature
            hidden = masked and not y[at] > 0
            tile[feature * span.lanes + row] = 0 if hidden else x[at]


@inner_function
def write_rows(tile: Any, count: int, out: Any, first: int, features: int, span: TileSpan) -> None:
    """Copy a tile's columns to rows of ``out``, from its feature `first` on.

    Args:
        tile: Of `count` features, at most as many as a narrow vector has numbers.
        count: Features to write.
        out: ``(rows, features)``.
        first: The first of them in `out`.
        features: All of `out`.
        span: The tile's columns.
    """
    high = span.width - span.width % span.part if count == span.part else 0
    for row in range(0, high, span.part):
        to = (span.first + row) * features + first
        turn_square(tile, tile, row, span.lanes, out, to, features)
    for row in range(high, span.width):
        to = (span.first + row) * features + first
        for feature in range(count):
            out[to + feature] = tile[feature * span.lanes + row]
