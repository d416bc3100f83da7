"""Measuring in a process of its own, whose heap no earlier measurement has fragmented."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_fresh_process(function: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """Call a function of a module in a new interpreter.

    Args:
        function: Found again there by its name.
        args: What it takes; pickled.
        options: As ``args``.

    Returns:
        What the function returned, pickled back; what it raised is raised here.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **options).result()
