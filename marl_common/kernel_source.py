"""Kernels are typed Python that is compiled ahead: what their sources need to run as they stand.

`setup.py` joins a kernel's files and has Cython compile them (`setup_kernels.py` says how). The
same files run uncompiled, slowly, where ``MAPPER_PURE=1`` is set: for debugging, coverage and
changes on trial.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from hashlib import blake2b
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from marl_common.pure_records import records_of

PURE = os.environ.get("MAPPER_PURE", "0") not in ("", "0")
_FIX = "build it: pip install -e . (or: python setup.py build_ext --inplace)"
_F = TypeVar("_F", bound=Callable[..., Any])


def part(function: _F) -> _F:
    """Decorator of a compiled function that only compiled functions call."""
    return function


def entry(function: _F) -> _F:
    """Decorator of a compiled function that Python calls: it releases the interpreter lock.

    It takes numbers, and C-contiguous arrays of any shape, which it sees as flat.

    Raises:
        ImportError: The kernel is not compiled, and nobody asked for its source.
    """
    if not PURE:
        where = f"{function.__module__}.{function.__qualname__}"
        raise ImportError(f"{where} is not compiled - expected an extension beside it - {_FIX}")

    @wraps(function)
    def flat(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*(_flat(arg) for arg in args))

    return flat  # type: ignore[return-value]


def _flat(arg: Any) -> Any:
    if not isinstance(arg, np.ndarray):
        return arg
    return arg.reshape(-1) if arg.dtype.names is None else records_of(arg)


def address(record: _F) -> _F:
    """Take one record of an array in place: a plain ``rows[k]`` would be a copy."""
    return record


def check_built(name: str, file: str, stamps: Mapping[str, str]) -> None:
    """Refuse an extension that was compiled from other sources than those beside it.

    Args:
        name: The extension's module.
        file: Its file.
        stamps: Hash of each source, by its path from the root of all packages.

    Raises:
        ImportError: A source has changed since; or the source itself is asked for.
    """
    if PURE:
        raise ImportError(
            f"{name}: MAPPER_PURE=1 asks for its source - import marl_common before it"
        )
    root = Path(file).parents[name.count(".")]
    for path, stamp in stamps.items():
        source = root / path
        if source.exists() and source_hash(source) != stamp:
            raise ImportError(f"{name} was compiled before {path} changed - {_FIX}")


def source_hash(path: Path) -> str:
    """What tells one content of a source from another."""
    return blake2b(path.read_bytes(), digest_size=8).hexdigest()


class _SourceFinder:
    """Finds the source of a compiled module instead of the extension beside it."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
            return None
        source = Path(spec.origin or "").parent / f"{name.rpartition('.')[2]}.py"
        return spec_from_file_location(name, source) if source.exists() else None


def prefer_sources() -> None:
    """From now on, import kernels as sources."""
    if _SourceFinder not in sys.meta_path:
        sys.meta_path.insert(0, _SourceFinder)
