"""Code that Numba compiles at first use: one way for all, and a cache that follows the sources.

The mapper has none: its kernels are compiled ahead, see `kernel_source`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from numba import njit

from marl_common.machine_parts import UNCOUNTED

inner_function: Any = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, **UNCOUNTED)
"""Decorator of compiled functions that only compiled functions call, and that allocate no array.

They have no wrapper for Python, which saves a fifth of the compilation; ``f.py_func`` is the plain
function. They are not cached by themselves, the entry point that calls them is.

Numba need not count references to arrays in them: the counting, by locked instructions, took two
thirds of a kernel's time.
"""


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator that compiles a function and keeps its machine code on disk.

    The code is kept beside the source or else in the user's cache folder (or in NUMBA_CACHE_DIR);
    where none of them can be written, it is compiled anew in each process.

    Args:
        function: The function; None where the decorator is given options.
        options: Options of `numba.njit`, such as ``error_model="numpy"``.
    """
    if function is None:
        return partial(compiled, **options)
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        return njit(**options)(function)


entry_point: Any = partial(compiled, nogil=True)
"""Decorator of a compiled function that Python calls for long: it releases the interpreter lock."""


def source_stamp(files: Iterable[str | Path]) -> int:
    """A number that changes when the content of any of the files does.

    Numba keys a cached function by its own file alone, so machine code that was compiled from
    several files would go stale when another of them changes. A kernel's entry point is therefore
    a closure over the stamp of all its sources: the value of a closure variable is part of the
    cache's key. What all of them take from inside of Numba is in every stamp.
    """
    digest = hashlib.blake2b(digest_size=7)
    for file in (Path(__file__).with_name("machine_parts.py"), *files):
        digest.update(Path(file).read_bytes())
    return int.from_bytes(digest.digest(), "big")
