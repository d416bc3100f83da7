"""Operations of a run by what they are for, as needed and as computed."""

from __future__ import annotations

from dataclasses import dataclass

from sparse_training import Additive


@dataclass(frozen=True)
class Work(Additive):
    """Operations by what they are for.

    Attributes:
        linear: Linear layers of the blocks.
        head: The tied head.
        attention: Scores and mixing of values.
        topology: Dense gradients of topology steps.
    """

    linear: int = 0
    head: int = 0
    attention: int = 0
    topology: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class Counted(Additive):
    """The same work, counted twice.

    Attributes:
        theory: What the masks and patterns in force need.
        executed: What the backend computes.
    """

    theory: Work = Work()
    executed: Work = Work()
