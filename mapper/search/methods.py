"""Which searcher a search runs, and for how many samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import baselines
from maestro_env import Problem

if TYPE_CHECKING:
    from baselines import Searcher

DEFAULT, FALLBACK = "auto", "ga"
"""The default method, and what runs where this package's searchers are not registered."""
WITH_AGENTS = "marl"
"""The method that is meant where its own options are given and no method."""
BUDGET = 20_000
"""Samples of a search where nothing is said."""
FIRST_VALUE = 3_001
"""The same of one that proves: its first value, and the proven mapping."""
TIMED = 1_000_000
"""The same of one that ends by time."""


def chosen_method(method: str | None, has_agents: bool = False) -> str:
    """The method that is asked for, or the default one.

    Args:
        method: Its name; None where none is asked for.
        has_agents: Whether options are given that only the method marl takes.
    """
    if method is not None:
        return method
    if has_agents:
        return WITH_AGENTS
    return DEFAULT if DEFAULT in baselines.names() else FALLBACK


def default_budget(searcher: Searcher, problem: Problem) -> int:
    """Samples that a search may spend where nothing is said.

    Args:
        searcher: What searches.
        problem: What is searched.
    """
    if baselines.prover_of(searcher) is None:
        return BUDGET
    return FIRST_VALUE if baselines.can_prove(problem) is None else TIMED
