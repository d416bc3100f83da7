"""The exact model's kernel from changed sources, run as plain Python.

A test can put a wrong formula into a source text and see whether the comparisons notice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import common
import cost_models.exact
from cost_models.exact import kernel

FOLDER = Path(cost_models.exact.__file__).parent
MODULES = (
    *("layout", "dims", "rows", "counts", "moves", "wide", "kept", "compute", "tables"),
    *("input_volume", "padding_rows", "padding_runs", "padding_steps", "step_totals"),
    *("step_elements", "wide_steps", "bound", "inner", "step_tiles", "steps", "traffic"),
    *("moments", "padding", "wide_traffic", "kernel"),
)
PREFIX = "changed_kernel_"

Change = tuple[str, str]
"""A piece of source text that occurs once, and what replaces it."""


def _plain(*args: Any, **options: Any) -> Any:
    """A decorator that compiles nothing, with or without options."""
    if args and callable(args[0]):
        return args[0]
    return lambda function: function


@contextmanager
def _modules_removed() -> Iterator[None]:
    try:
        yield
    finally:
        for name in MODULES:
            sys.modules.pop(PREFIX + name, None)


def changed_kernel(changes: Mapping[str, list[Change]]) -> Callable[..., int]:
    """``evaluate_rows`` of the kernel with changed sources, as plain Python.

    Args:
        changes: By module name, such as ``"counts"``. Every old text must occur exactly once, so
            that a change cannot miss its place when the source moves on.
    """
    with _modules_removed():
        for name in MODULES:
            text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
            for old, new in changes.get(name, []):
                assert text.count(old) == 1, f"{name}.py: {old!r} occurs {text.count(old)} times"
                text = text.replace(old, new)
            text = text.replace("from cost_models.exact.", f"from {PREFIX}")
            module = ModuleType(PREFIX + name)
            module.__file__ = str(FOLDER / f"{name}.py")
            sys.modules[module.__name__] = module
            exec(compile(text, module.__name__, "exec"), module.__dict__)
        changed: Any = sys.modules[PREFIX + "kernel"]
        evaluate: Callable[..., int] = changed.evaluate_rows
        return evaluate


@contextmanager
def kernel_in_place(changes: Mapping[str, list[Change]]) -> Iterator[None]:
    """Let the exact model run the changed kernel."""
    with pytest.MonkeyPatch.context() as patch:
        for decorator in ("inner_function", "allocating_function", "entry_point"):
            patch.setattr(common, decorator, _plain)
        evaluate = changed_kernel(changes)
        assert isinstance(evaluate, FunctionType), "the changed kernel would be compiled"
        patch.setattr(kernel, "evaluate_rows", evaluate)
        yield
