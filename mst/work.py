"""Operations of a run by what they are for, as needed and as computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
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
        return self.linear + self.head + self.attention + self.topology

    def __add__(self, other: Work) -> Work:
        return Work(
            self.linear + other.linear,
            self.head + other.head,
            self.attention + other.attention,
            self.topology + other.topology,
        )

    def __mul__(self, times: int) -> Work:
        return Work(
            self.linear * times, self.head * times, self.attention * times, self.topology * times
        )


@dataclass(frozen=True)
class Counted:
    """The same work, counted twice.

    Attributes:
        theory: What the masks and patterns in force need.
        executed: What the backend computes.
    """

    theory: Work = Work()
    executed: Work = Work()

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.theory + other.theory, self.executed + other.executed)

    def __mul__(self, times: int) -> Counted:
        return Counted(self.theory * times, self.executed * times)
