"""What a campaign of edits needs of a kind of file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.edits.fields import Rng

Edit = Callable[[Rng], tuple[str, bytes]]
"""What was edited, and the edited file."""


def judged(read: Callable[[], object], refusal: type[Exception]) -> str:
    """What reading a file comes to: "accepted", "refused", or what went wrong."""
    try:
        read()
    except refusal as error:
        return "refused" if "\n" not in str(error) else "internal error: several lines"
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    return "accepted"


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    Args:
        file: Its name.
        prepare: Writes sound files into a folder; returns what edits them.
        judge: What the project makes of a file: "accepted", "refused", or what went wrong.
        truth: Whether a file, judged so, is true; None where nobody can tell.
    """

    file: str
    prepare: Callable[[Path], Edit]
    judge: Callable[[Path], str]
    truth: Callable[[Path, str], bool | None]
