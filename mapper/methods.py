"""Which searcher a search runs."""

from __future__ import annotations

import importlib.util
import sys

import baselines

DEFAULT, FALLBACK = "marl", "ga"
"""The default method, and what runs where its extra is not installed."""


def chosen_method(method: str | None) -> str:
    """The method that is asked for, or the default one.

    The default needs the extra ``rl``; without it the fallback runs, and standard error says so.
    """
    if method is not None:
        return method
    if DEFAULT not in baselines.names():
        return FALLBACK
    if importlib.util.find_spec("torch") is None:
        print(
            f"method {DEFAULT} needs the extra rl (pip install 'marl-mapper[rl]'); "
            f"running {FALLBACK} instead",
            file=sys.stderr,
        )
        return FALLBACK
    return DEFAULT
