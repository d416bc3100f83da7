"""Which searcher a search runs."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import baselines
from baselines import Searcher

DEFAULT, FALLBACK = "marl", "ga"
"""The default method, and what runs where its extra is not installed."""


def chosen_searcher(method: str | None, options: dict[str, Any]) -> Searcher:
    """Load the searcher that is asked for, or the default one.

    The default needs the extra ``rl``; without it the fallback runs, and standard error says so.

    Raises:
        SearcherError: The method is unknown, needs an extra that is missing, or takes no such
            option.
    """
    if method is not None:
        return baselines.load(method, **options)
    if DEFAULT not in baselines.names():
        return baselines.load(FALLBACK, **options)
    if importlib.util.find_spec("torch") is None:
        print(
            f"method {DEFAULT} needs the extra rl (pip install 'marl-mapper[rl]'); "
            f"running {FALLBACK} instead",
            file=sys.stderr,
        )
        return baselines.load(FALLBACK, **options)
    return baselines.load(DEFAULT, **options)
