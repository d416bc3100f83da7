"""Gaps to the proven optima, from result files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maestro_env import bench_problems
from mapper.bench.bench_file import TASKS, BenchFile
from marl_common import FloatArray
from marl_runs import Interval, interquartile_mean

SOLVED = 1e-9
"""Largest share above the optimum that is rounding."""


def scores(found: BenchFile, task: str) -> list[FloatArray]:
    """``(seeds,)`` of optimum / value for each problem, 0 for no mapping."""
    return [
        np.array(
            [
                0.0 if row.value is None else problem.optimum / row.value
                for row in found.of(task, problem.number)
            ]
        )
        for problem in bench_problems()
    ]


def gap(found: BenchFile, task: str) -> Interval:
    """How far above the optimum a searcher ends, as a share, with its bootstrap interval.

    It is that of the interquartile mean of optimum / value over problems and seeds.
    """
    mean = interquartile_mean(scores(found, task))
    return Interval(*(_above(score) for score in (mean.value, mean.high, mean.low)))


def _above(score: float) -> float:
    return max(0.0, 1.0 / score - 1.0) if score > 0 else float("inf")


def solved(found: BenchFile, task: str) -> float:
    """Share of the searches that end at the optimum."""
    return float(np.mean(np.concatenate(scores(found, task)) >= 1 - SOLVED))


def table_rows(files: Sequence[BenchFile]) -> list[dict[str, Any]]:
    """A row a searcher, the least gap at the last task first."""
    return [_row(found) for found in sorted(files, key=lambda f: gap(f, TASKS[-1]).value)]


def _row(found: BenchFile) -> dict[str, Any]:
    row: dict[str, Any] = {"searcher": found.searcher.label, "seeds": found.seeds}
    for task in TASKS:
        interval = gap(found, task)
        title = task if task.endswith("s") else f"{int(task):,}"
        row[title] = _percent(interval.value)
        if found.seeds > 1:  # of one search a problem the bootstrap knows no interval
            row[title] += f" [{_percent(interval.low)}, {_percent(interval.high)}]"
    row["optimum in 1 s"] = f"{100 * solved(found, TASKS[-1]):.0f} %"
    timed = [row.samples for row in found.rows if row.task == TASKS[-1]]
    row["samples in 1 s"] = f"{round(float(np.median(timed))):,}"
    return row


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if np.isfinite(share) else "no mapping"
