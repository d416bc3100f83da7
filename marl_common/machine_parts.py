"""What compiled code takes from inside of Numba: the one file to read when Numba changes.

Numba compiles Python's loops, and offers no vector of fixed width, no prefetch and no copy of a
row. Three packages need them:

- `sparse_training.kernels.vectors` (vectors in registers), `exponential` and `squares`;
- `mpe_marl.replay.intrinsics` (copies and prefetches rows of a replay);
- `marl_common.jit` (functions without counts of references).

How such an operation is made. A function under `intrinsic` gets Numba's types of its arguments and
returns a signature and a second function, `generate(context, builder, sig, args)`. Numba calls that
one while it compiles a caller: `builder` is llvmlite's, appends LLVM's instructions at the place of
the call, and the value that `generate` returns is the call's value. A type of its own, as a vector,
needs a class that says what it is in LLVM (`register_model`, `PrimitiveModel`).

What is public, and what is not. `numba.extending` and `llvmlite.ir` are documented; they are named
here so that all of it is in one place. `numba.core` is private:

| here | from | what would break |
|---|---|---|
| `call_llvm`, `at_number` | `numba.core.cgutils` | calls of LLVM's functions; addresses |
| `row_pointer`, `copy_bytes` | `numba.core.cgutils` | places in arrays; copies of rows |
| `UNCOUNTED` | `numba.core.cpu` | speed alone: without the option references are counted |

So `numba` and `llvmlite` have upper bounds in `pyproject.toml`. To raise them: install the release,
run `tests/common/test_jit.py`, `tests/sparse_training` and `tests/mpe_marl`, which compare each
operation with PyTorch or NumPy, and see that `UNCOUNTED` is not empty: without its option kernels
take three times as long.
The stamp of a kernel's sources (`source_stamp`) holds this file, so machine code that is kept on
disk is compiled anew when it changes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils
from numba.core.cpu import CPUTargetOptions
from numba.extending import intrinsic as intrinsic
from numba.extending import models
from numba.extending import register_model as register_model

HAS_AVX512 = bool(get_host_cpu_features().get("avx512f"))
"""Whether the CPU has vectors of 512 bits."""
PrimitiveModel: Any = models.PrimitiveModel
"""Base of a class that says what a type is in LLVM."""
UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
"""Options of a function in which Numba counts no references to arrays."""
_BYTE = ir.IntType(8).as_pointer()


def call_llvm(builder: Any, function: str, *args: Any) -> Any:
    """Call LLVM's function of one type of numbers or vectors, such as ``sqrt``."""
    kind = args[0].type
    scalar = f"v{kind.count}{kind.element.intrinsic_name}"
    signature = ir.FunctionType(kind, [kind] * len(args))
    called = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{function}.{scalar}")
    return builder.call(called, args)


def at_number(builder: Any, numbers: Any, count: Any) -> Any:
    """Pointer to the number that stands `count` numbers behind a pointer."""
    return cgutils.gep(builder, numbers, count)


def row_pointer(context: Any, builder: Any, kind: Any, array: Any, index: list[Any]) -> Any:
    """Pointer, of bytes, to an item of an array of Numba's type `kind`."""
    view = context.make_array(kind)(context, builder, array)
    at = cgutils.get_item_pointer(context, builder, kind, view, index, wraparound=False)
    return builder.bitcast(at, _BYTE)


def copy_bytes(builder: Any, target: Any, source: Any, count: Any) -> None:
    """Copy so many bytes from one pointer to another that does not overlap it."""
    cgutils.raw_memcpy(builder, target, source, count, 1)
