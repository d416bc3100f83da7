"""Which searcher a search runs."""

from __future__ import annotations

import baselines

DEFAULT, FALLBACK = "auto", "ga"
"""The default method, and what runs where this package's searchers are not registered."""
WITH_AGENTS = "marl"
"""The method that is meant where its own options are given and no method."""


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
