"""What a campaign of edits needs of a kind of file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.edits.fields import Rng

Edit = Callable[[Rng, Path], str]
"""Writes an edited file to a path; returns what was edited."""


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
