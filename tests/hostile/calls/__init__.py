"""Hostile calls of the library; a module here is a list `ROWS` that the test picks up."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One call and what its error must say.

    Args:
        name: What is wrong, in a few words; no two rows of a module share one.
        call: The call, without arguments; it may assert afterwards that nothing has changed.
        error: The type of the project that it raises.
        says: What the error's single line holds, as a regular expression.
    """

    name: str
    call: Callable[[], object]
    error: type[Exception]
    says: str
