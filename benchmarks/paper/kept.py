"""Finished searches in a file of lines, and those that are not there run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.mpe.kept_lines import KeptLines
from benchmarks.paper.found import Found, found_of, summary
from benchmarks.paper.notes import notes_of
from benchmarks.paper.searches import Search, run, tell
from marl_runs import gathered


class Kept:
    """Searches of a file, each there once it is finished.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._lines = KeptLines(path)

    def __contains__(self, search: Search) -> bool:
        return search.key in self._lines

    def __call__(self, search: Search) -> Found:
        """What a search found."""
        return found_of(self._lines[search.key])

    def of(self, searches: Iterable[Search]) -> list[Found]:
        """What those found that are finished."""
        return [self(one) for one in searches if one in self]

    def missing(self, searches: Iterable[Search]) -> list[Search]:
        """Those that are not finished, each once."""
        return [one for one in dict.fromkeys(searches) if one not in self]

    def fill(self, searches: list[Search], workers: int, until: float) -> set[Search]:
        """Run searches in their order, `workers` at a time; returns those that failed.

        Args:
            searches: What is not finished.
            workers: Processes of one thread each; one is this process.
            until: No search begins after this moment of ``time.monotonic()``.
        """
        failed, done, total = set(), 0, len(searches)
        with gathered(workers) as crew:
            while searches and time.monotonic() <= until:
                some, searches = searches[:workers], searches[workers:]
                for search, row in zip(some, crew.share_out(line_of, some), strict=True):
                    done += 1
                    if isinstance(row, str):
                        failed.add(search)
                        tell(f"failed: {search}: {row}")
                        continue
                    self._lines.add(row)
                    tell(f"{done} of {total}: {search}: {row['cpu_s']:.1f} s")
        return failed


def line_of(search: Search) -> dict[str, Any] | str:
    """Run a search; its line, or why it failed."""
    try:
        samples = run(search)
        return summary(search, samples, notes_of(search, samples))
    except Exception as error:
        return str(error)
