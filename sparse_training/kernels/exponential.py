"""The exponential function of a vector, inside of compiled code.

``exp(x) = 2^n exp(r)`` with ``n`` the whole number next to ``x / ln 2``: ``exp(r)`` by its Taylor
series, ``|r| <= ln 2 / 2``, and ``2^n`` by writing ``n`` where a number has its exponent.
"""

from __future__ import annotations

import math
from typing import Any

from marl_common import call_llvm, intrinsic, ir

LN2_HIGH = 0.693145751953125
"""ln 2 in few enough bits that a whole number times it is exact; the rest is another number."""
LN2_LOW = 1.4286068203094173e-06
FORMATS = {"float": (32, 23, 127, 7), "double": (64, 52, 1023, 13)}
"""Bits of a number, bits of its fraction, what is added to its exponent; degree of the series."""


def _constant(kind: Any, number: float) -> Any:
    return ir.Constant(kind, [number] * kind.count)


@intrinsic
def exponential(typing_context: Any, vector: Any) -> Any:
    """``exponential(vector)``: e to each number; 0 where that is below the smallest normal number.

    What is too large for its type becomes the largest power; nan stays.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, kind = args[0], args[0].type
        bits, fraction, bias, degree = FORMATS[str(kind.element)]
        lowest, highest = (1 - bias) * math.log(2), bias * math.log(2)
        high = builder.fcmp_ordered(">", x, _constant(kind, highest))
        x = builder.select(high, _constant(kind, highest), x)
        n = call_llvm(builder, "rint", builder.fmul(x, _constant(kind, 1 / math.log(2))))
        rest = call_llvm(builder, "fmuladd", n, _constant(kind, -LN2_HIGH), x)
        rest = call_llvm(builder, "fmuladd", n, _constant(kind, -LN2_LOW), rest)
        series = _constant(kind, 1 / math.factorial(degree))
        for power in range(degree - 1, -1, -1):
            series = call_llvm(
                builder, "fmuladd", series, rest, _constant(kind, 1 / math.factorial(power))
            )
        whole = ir.VectorType(ir.IntType(bits), kind.count)
        number = builder.fcmp_ordered("ord", x, x)  # nan has no whole number
        n = builder.select(number, n, ir.Constant(kind, None))
        exponent = builder.add(builder.fptosi(n, whole), ir.Constant(whole, [bias] * kind.count))
        power_of_two = builder.shl(exponent, ir.Constant(whole, [fraction] * kind.count))
        found = builder.fmul(series, builder.bitcast(power_of_two, kind))
        low = builder.fcmp_ordered("<", x, _constant(kind, lowest))
        return builder.select(low, ir.Constant(kind, None), found)

    return vector(vector), generate
