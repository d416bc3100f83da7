"""Vectors of fixed width, and numbers at an address, inside of compiled code.

Numba itself offers neither. Addresses, unlike arrays, cost nothing to hand over.

LLVM holds a vector of 256 bytes in four registers of AVX-512, so a sum over many non-zeros stays in
registers, whereas a plain loop reads and writes it each time. A vector has as many numbers as fit
into its bytes: 64 of float32, 32 of float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numba import types

from marl_common import (
    HAS_AVX512,
    PrimitiveModel,
    at_number,
    call_llvm,
    intrinsic,
    ir,
    register_model,
    source_stamp,
)

KINDS: dict[torch.dtype, Any] = {torch.float32: np.float32, torch.float64: np.float64}
"""Types of numbers that are served, as compiled code is told them."""
NARROW = 64
"""Bytes of the partial sums of a weight's gradient."""
WIDE = 256 if HAS_AVX512 else 128
"""Bytes of a tile's row: four rows of sums and one of inputs fit into a CPU's registers."""

VECTORS = {
    dtype: (WIDE // dtype.itemsize, NARROW // dtype.itemsize, kind(1))
    for dtype, kind in KINDS.items()
}
"""Numbers of a wide and a narrow vector, and a 1 that tells the kernels their type."""


def stamp_of(*names: str) -> int:
    """What :func:`marl_common.source_stamp` says of kernels' files by name, and of this one."""
    return source_stamp(Path(__file__).with_name(f"{name}.py") for name in (*names, "vectors"))


class VectorType(types.Type):
    """Type of a vector.

    Args:
        scalar: Numba's type of a number.
        lanes: Numbers.
    """

    def __init__(self, scalar: Any, lanes: int) -> None:
        super().__init__(name=f"vector({scalar}, {lanes})")
        self.scalar, self.lanes = scalar, lanes


@register_model(VectorType)
class VectorModel(PrimitiveModel):
    """A vector is one of LLVM's."""

    def __init__(self, manager: Any, vector: VectorType) -> None:
        scalar = manager.lookup(vector.scalar).get_value_type()
        super().__init__(manager, vector, ir.VectorType(scalar, vector.lanes))


def vector_of(scalar: Any, size: int) -> VectorType:
    """The vector of `size` bytes of a scalar."""
    return VectorType(scalar, size * 8 // scalar.bitwidth)


@intrinsic
def numbers_at(typing_context: Any, address: Any, one: Any) -> Any:
    """``numbers_at(address, one)``: the numbers at an address, of the type of `one`."""
    kind = types.CPointer(one)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.intp, one), generate


def _whole_numbers(number: Any) -> Any:
    kind = types.CPointer(number)

    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.intp), generate

    return intrinsic(at)


places_at = _whole_numbers(types.int32)
"""``places_at(address)``: the int32 numbers at an address."""
addresses_at = _whole_numbers(types.int64)
"""``addresses_at(address)``: the int64 numbers at an address."""


def address_of(tensor: torch.Tensor | None) -> int:
    """Where a tensor's numbers are; 0: there is none."""
    return 0 if tensor is None else tensor.data_ptr()


@intrinsic
def after(typing_context: Any, numbers: Any, count: Any) -> Any:
    """``after(numbers, count)``: the numbers without the first `count`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return at_number(builder, *args)

    return numbers(numbers, types.intp), generate


def _place(context: Any, builder: Any, sig: Any, args: Any, lanes: int) -> Any:
    """Pointer to a vector that begins at the given one of some numbers."""
    at = at_number(builder, args[0], args[1])
    scalar = context.get_value_type(sig.args[0].dtype)
    return builder.bitcast(at, ir.VectorType(scalar, lanes).as_pointer())


def _loader(size: int) -> Any:
    def load(typing_context: Any, numbers: Any, at: Any) -> Any:
        vector = vector_of(numbers.dtype, size)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _place(context, builder, sig, args, vector.lanes)
            return builder.load(pointer, align=numbers.dtype.bitwidth // 8)

        return vector(numbers, types.intp), generate

    return intrinsic(load)


load = _loader(WIDE)
"""``load(numbers, at)``: the wide vector that begins at the given number."""
load_part = _loader(NARROW)
"""The same for a narrow vector."""


@intrinsic
def store(typing_context: Any, numbers: Any, at: Any, vector: Any) -> Any:
    """``store(numbers, at, vector)``: write a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _place(context, builder, sig, args, vector.lanes)
        builder.store(args[2], pointer, align=numbers.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(numbers, types.intp, vector), generate


def _splat(builder: Any, number: Any, lanes: int) -> Any:
    one = ir.VectorType(number.type, 1)
    first = builder.insert_element(ir.Constant(one, ir.Undefined), number, ir.IntType(32)(0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(first, ir.Constant(one, ir.Undefined), order)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return call_llvm(builder, "fmuladd", a, b, c)


@intrinsic
def splat(typing_context: Any, number: Any) -> Any:
    """``splat(number)``: a wide vector of one number."""
    vector = vector_of(number, WIDE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _splat(builder, args[0], vector.lanes)

    return vector(number), generate


@intrinsic
def zeros(typing_context: Any, numbers: Any) -> Any:
    """``zeros(numbers)``: a wide vector of zeros, of the numbers' type."""
    vector = vector_of(numbers.dtype, WIDE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(context.get_value_type(vector), None)

    return vector(numbers), generate


def _binary(build: Callable[..., Any]) -> Any:
    """What `build(builder, a, b)` makes of two vectors."""

    def of_two(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return build(builder, *args)

        return a(a, b), generate

    return intrinsic(of_two)


def _where_positive(builder: Any, vector: Any, switch: Any) -> Any:
    zero = ir.Constant(vector.type, None)
    return builder.select(builder.fcmp_ordered(">", switch, zero), vector, zero)


add, subtract = _binary(ir.IRBuilder.fadd), _binary(ir.IRBuilder.fsub)
times, divide = _binary(ir.IRBuilder.fmul), _binary(ir.IRBuilder.fdiv)
"""``add(a, b)``, ``subtract(a, b)``, ``times(a, b)``, ``divide(a, b)``: of each pair of numbers."""
larger = _binary(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))
"""``larger(a, b)``: the larger of each pair of numbers."""
where_positive = _binary(_where_positive)
"""``where_positive(vector, switch)``: 0 wherever the switch is not above 0."""


@intrinsic
def add_product(typing_context: Any, total: Any, a: Any, b: Any) -> Any:
    """``add_product(total, a, b)``: ``total + a * b`` of vectors."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _fused(builder, args[1], args[2], args[0])

    return total(total, a, b), generate


@intrinsic
def hide_first(typing_context: Any, vector: Any, count: Any) -> Any:
    """``hide_first(vector, count)``: -inf instead of the first `count` numbers."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind, place = args[0].type, ir.IntType(64)
        places = ir.Constant(ir.VectorType(place, kind.count), list(range(kind.count)))
        hidden = builder.icmp_signed("<", places, _splat(builder, args[1], kind.count))
        return builder.select(hidden, ir.Constant(kind, [-math.inf] * kind.count), args[0])

    return vector(vector, types.intp), generate


@intrinsic
def inverse_root(typing_context: Any, vector: Any) -> Any:
    """``inverse_root(vector)``: 1 / square root of each number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = args[0].type
        root = call_llvm(builder, "sqrt", *args)
        return builder.fdiv(ir.Constant(kind, [1.0] * kind.count), root)

    return vector(vector), generate


@intrinsic
def add_scaled(typing_context: Any, total: Any, number: Any, vector: Any) -> Any:
    """``add_scaled(total, number, vector)``: ``total + number * vector``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _fused(builder, _splat(builder, args[1], vector.lanes), args[2], args[0])

    return total(total, total.scalar, vector), generate


@intrinsic
def add_dot(typing_context: Any, sums: Any, a: Any, b: Any) -> Any:
    """``add_dot(sums, a, b)``: partial sums of the dot product of two wide vectors."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        total, count = args[0], ir.IntType(32)
        for first in range(0, a.lanes, sums.lanes):
            order = ir.Constant(
                ir.VectorType(count, sums.lanes), list(range(first, first + sums.lanes))
            )
            part = [builder.shuffle_vector(v, v, order) for v in args[1:]]
            total = _fused(builder, part[0], part[1], total)
        return total

    return sums(sums, a, b), generate


@intrinsic
def positive(typing_context: Any, vector: Any) -> Any:
    """``positive(vector)``: 0 instead of each number below it; nan stays."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, None)
        return builder.select(builder.fcmp_ordered("<", args[0], zero), zero, args[0])

    return vector(vector), generate


@intrinsic
def total(typing_context: Any, vector: Any) -> Any:
    """``total(vector)``: the sum of its numbers, halves first."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        sums, count = args[0], ir.IntType(32)
        while sums.type.count > 1:
            half = sums.type.count // 2
            kind = ir.VectorType(count, half)
            low, high = (
                builder.shuffle_vector(sums, sums, ir.Constant(kind, list(range(at, at + half))))
                for at in (0, half)
            )
            sums = builder.fadd(low, high)
        return builder.extract_element(sums, count(0))

    return vector.scalar(vector), generate
