"""Two machine operations Numba does not offer: copy a row with memcpy, prefetch a cache line.

A plain loop copies a row several times slower than memcpy, and a gather from random rows waits
for memory that a prefetch some rows ahead has under way.
"""

from __future__ import annotations

from typing import Any

from numba import types

from marl_common import copy_bytes, intrinsic, ir, row_pointer

_BYTE = ir.IntType(8).as_pointer()
_INT32 = ir.IntType(32)
_READ, _KEEP, _DATA = 0, 3, 1  # llvm.prefetch: a read, keep in all caches, data cache


@intrinsic
def prefetch(typing_context: Any, array: Any, row: Any, column: Any) -> Any:
    """``prefetch(array, row, column)``: fetch the cache line of ``array[row, column]``."""
    signature = types.void(array, types.intp, types.intp)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = row_pointer(context, builder, sig.args[0], args[0], [args[1], args[2]])
        kind = ir.FunctionType(ir.VoidType(), [_BYTE, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE], kind)
        builder.call(function, [at, *(_INT32(v) for v in (_READ, _KEEP, _DATA))])
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def copy_row(typing_context: Any, target: Any, to: Any, source: Any, row: Any, nbytes: Any) -> Any:
    """``copy_row(target, to, source, row, nbytes)``: memcpy of one row of a C-ordered table."""
    signature = types.void(target, types.intp, source, types.intp, types.intp)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = context.get_constant(types.intp, 0)
        into = row_pointer(context, builder, sig.args[0], args[0], [args[1], zero])
        out_of = row_pointer(context, builder, sig.args[2], args[2], [args[3], zero])
        copy_bytes(builder, into, out_of, args[4])
        return context.get_dummy_value()

    return signature, generate
