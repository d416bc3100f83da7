"""Hostile command lines, one row each; a module here is a list `ROWS` that the test picks up."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One command line and what it must say.

    Args:
        words: The command line, as a shell splits it.
        says: What the line on standard error holds.
        files: Files that lie in the folder it runs in, by name.
        code: Exit code: 2 for wrong input, 1 for a fault of the machine.
        env: Variables of the environment.
        process: Run it in a process of its own, by bash: the words may redirect.
    """

    words: str
    says: str
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    code: int = 2
    env: Mapping[str, str] = field(default_factory=dict)
    process: bool = False
