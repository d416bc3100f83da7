"""What is kept of a search: enough for every table and curve, in a line of a file.

The mean return of a window is worked out over the search's own best value, as the reference of a
table is known only when all of its searches are; a table's is that times reference / own best.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.frame import Row
from benchmarks.mpe.kept_lines import KeptLines
from benchmarks.paper.curves import mean_returns, windows
from benchmarks.paper.searches import Samples, Search, notes_of, run, tell
from marl_common import FloatArray
from marl_runs import gathered

WINDOW = 500
"""Samples over which a mean return is taken, and at most a quarter of the search's."""
STEP = 0.01
"""How far apart the mean returns are whose first samples are kept."""
DIGITS = 9


@dataclass(frozen=True)
class Found:
    """What a search found.

    Args:
        bests: ``(k, 3)`` sample, value and processor time [s] of each mapping better than before.
        means: ``(m, 2)`` sample and mean return of the last `WINDOW`, where it rose by `STEP`.
        curve: ``(w,)`` mean returns over :func:`benchmarks.paper.curves.windows`.
        last: Mean return over the last `WINDOW` samples.
        samples: Samples taken.
        seconds: Processor time of the whole search [s].
        proven: Whether the best value is the optimum.
        notes: What its actions say, of some searches.
    """

    bests: FloatArray
    means: FloatArray
    curve: FloatArray
    last: float
    samples: int
    seconds: float
    proven: bool = False
    notes: Row = field(default_factory=dict)

    @property
    def best(self) -> float:
        """Lowest value; inf if no sample was feasible."""
        return float(self.bests[-1, 1]) if len(self.bests) else np.inf

    def best_at(self, seconds: float) -> float:
        """Lowest value of the samples that were evaluated within some processor time [s]."""
        known = self.bests[self.bests[:, 2] <= seconds, 1]
        return float(known[-1]) if len(known) else np.inf

    def arrival(self, value: float) -> float:
        """The first sample at or below a value; inf if there is none."""
        there = self.bests[self.bests[:, 1] <= value * (1.0 + 1e-8), 0]
        return float(there[0]) if len(there) else np.inf

    def scale(self, reference: float) -> float:
        """What a mean return over the own best is multiplied by for that over a reference."""
        return reference / self.best if len(self.bests) else 0.0

    def last_return(self, reference: float) -> float:
        """Mean return of the last samples: reference / value, 0 where infeasible."""
        return self.last * self.scale(reference)

    def return_arrives(self, reference: float, level: float) -> float:
        """The sample at which the mean return of the last `WINDOW` reaches a level, or inf.

        As far as the kept means tell: that of the first one at the level or above it.
        """
        there = self.means[self.means[:, 1] * self.scale(reference) >= level, 0]
        return float(there[0]) if len(there) else np.inf

    def returns(self, reference: float) -> FloatArray:
        """Mean returns over the windows of the curve."""
        return self.curve * self.scale(reference)


def summary(search: Search, samples: Samples, notes: Row) -> Row:
    """The line of a search, as plain values."""
    values = samples.values
    best = float(values.min(initial=np.inf))
    with np.errstate(invalid="ignore"):
        returns = np.where(np.isfinite(values), best / values, 0.0)
    window = min(WINDOW, max(1, search.budget // 4), len(values))
    row: Row = {"key": search.key, **search.told}
    row |= {"samples": len(values), "cpu_s": round(samples.seconds, 3)}
    row |= {"bests": _bests(samples), "means": _means(returns, window)}
    row["curve"] = [round(float(one), 4) for one in mean_returns(returns, windows(len(values)))]
    row["last"] = round(float(returns[-window:].mean()), 5)
    if samples.proven:
        row["proven"] = True
    return {**row, "notes": notes} if notes else row


def found_of(row: Row) -> Found:
    """What :func:`summary` put in a line."""
    return Found(
        np.array(row["bests"], np.float64).reshape(-1, 3),
        np.array(row["means"], np.float64).reshape(-1, 2),
        np.array(row["curve"], np.float64),
        row["last"],
        row["samples"],
        row["cpu_s"],
        row.get("proven", False),
        row.get("notes", {}),
    )


def _bests(samples: Samples) -> list[list[float]]:
    lowest = np.minimum.accumulate(samples.values)
    before = np.concatenate([[np.inf], lowest[:-1]])
    rows = np.flatnonzero(lowest < before)
    ends, spent = samples.clock.T
    batch = np.searchsorted(ends, rows + 1)
    times = np.concatenate([spent, [samples.seconds]])[np.minimum(batch, len(spent))]
    return [
        [int(row) + 1, float(f"{samples.values[row]:.{DIGITS}g}"), round(float(time), 3)]
        for row, time in zip(rows, times, strict=True)
    ]


def _means(returns: FloatArray, window: int) -> list[list[float]]:
    sums = np.concatenate([[0.0], np.cumsum(returns)])
    highest = np.maximum.accumulate((sums[window:] - sums[:-window]) / window)
    kept, level = [], 0.0
    for place in np.flatnonzero(np.diff(highest, prepend=-1.0) > 0.0):
        mean = float(highest[place])
        if mean >= level + STEP:
            kept.append([int(place) + window, round(mean, 4)])
            level = mean
    return kept


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


def line_of(search: Search) -> Row | str:
    """Run a search; its line, or why it failed."""
    try:
        samples = run(search)
        return summary(search, samples, notes_of(search, samples))
    except Exception as error:
        return str(error)
