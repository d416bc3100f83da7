"""What a task is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mpe_marl import BatchEnv


@dataclass(frozen=True)
class Task:
    """A task of a team.

    Attributes:
        name: As the user writes it.
        length: Steps of its longest episode.
        make: Makes so many worlds side by side.
        team: How rewards of agents that differ become one; None: they do not differ.
        endless: Makes so many worlds whose episodes are cut after so many steps instead; None:
            the task cannot go on: its episodes can end early, and no reward may be shifted.
        at_once: Worlds that evaluation plays side by side.
    """

    name: str
    length: int
    make: Callable[[int], BatchEnv]
    team: str | None = None
    endless: Callable[[int, int], BatchEnv] | None = None
    at_once: int = 1024
