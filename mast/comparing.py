"""Arms beside each other: scores, intervals, who wins, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marl_common import FloatArray
from marl_runs import interquartile_mean, mean_interval, probability_of_improvement
from mast.errors import MastError
from mast.playing import random_returns
from mast.tasks import find_task

if TYPE_CHECKING:
    from mast.experiment import ValueTraining

REFERENCE = "dense+"
"""The arm whose mean return is a score of 100; random play is 0."""
Rows = Sequence[Mapping[str, Any]]


def random_scores(tasks: Sequence[str], team: str | None = None) -> dict[str, float]:
    """Mean return of random play in each task, from the starts of every evaluation.

    Args:
        tasks: Their names.
        team: How rewards of agents that differ become one; None: the task's own way.
    """
    return {
        name: float(random_returns(find_task(name), team).mean()) for name in dict.fromkeys(tasks)
    }


def named_rows(runs: Iterable[ValueTraining], rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Rows of :func:`mast.running.run_row`, with the task and arm of their runs."""
    return [
        {**row, "task": run.config.task, "arm": run.config.label}
        for run, row in zip(runs, rows, strict=True)
    ]


def summary(
    rows: Rows, random: Mapping[str, float], *, reference: str = REFERENCE, rival: str | None = None
) -> list[dict[str, Any]]:
    """One row a task and arm, in the order in which they come.

    Args:
        rows: Finished runs: ``task``, ``arm`` (with its sparsity), ``return`` and costs.
        random: Mean return of random play in each task.
        reference: The arm of score 100.
        rival: Arms are said to win against this one; None: the tiny one of the same sparsity
            and targets ``+``.

    Returns:
        The rows; scores are None in tasks where the reference earns no more than random play.

    Raises:
        MastError: A task has no run of the reference.
    """
    found = []
    for task in dict.fromkeys(row["task"] for row in rows):
        arms: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            if row["task"] == task:
                arms.setdefault(row["arm"], []).append(row)
        if reference not in arms:
            raise MastError(
                f"task {task!r} has no run of {reference!r}, which is the score of 100."
            )
        returns = {arm: np.array([run["return"] for run in runs]) for arm, runs in arms.items()}
        span = float(returns[reference].mean()) - random[task]
        for arm, runs in arms.items():
            other = rival or _tiny_of(arm)
            found.append(
                _row(task, arm, runs)
                | _scored(100 * (returns[arm] - random[task]) / span if span > 0 else None)
                | _winning(returns[arm], returns.get(other) if other != arm else None, other)
                | _costs(runs, arms[reference])
            )
    return found


def _tiny_of(arm: str) -> str:
    """The tiny arm that costs what a sparse one does."""
    words = arm.split(" ")
    return f"tiny+ {words[1]}" if len(words) > 1 else ""


def _row(task: str, arm: str, runs: Rows) -> dict[str, Any]:
    returns, half = mean_interval(np.array([run["return"] for run in runs]))
    return {
        "task": task, "arm": arm, "seeds": len(runs), "return": float(returns),
        "return_half": float(half),
    }  # fmt: skip


def _scored(scores: FloatArray | None) -> dict[str, Any]:
    """Interquartile mean with its interval, and the mean; None where there are no scores."""
    if scores is None:
        return dict.fromkeys(("score", "low", "high", "mean_score"))
    middle = interquartile_mean([scores])
    return {
        "score": middle.value, "low": middle.low, "high": middle.high,
        "mean_score": float(scores.mean()),
    }  # fmt: skip


def _winning(ours: FloatArray, theirs: FloatArray | None, rival: str) -> dict[str, Any]:
    """How often a run is above one of the rival's; None where there is none."""
    if theirs is None:
        return dict.fromkeys(("wins", "wins_low", "wins_high", "wins_against"))
    wins = probability_of_improvement([ours], [theirs])
    return {
        "wins": wins.value, "wins_low": wins.low, "wins_high": wins.high, "wins_against": rival
    }  # fmt: skip


def _costs(runs: Rows, full: Rows) -> dict[str, Any]:
    return {
        "weights": runs[0]["weights"],
        "train_times": _times(full, runs, "train_flops"),
        "inference_times": _times(full, runs, "inference_flops"),
        "executed_times": _times(full, runs, "train_flops_executed"),
        "cpu_s": float(np.median([run["train_cpu_s"][-1] for run in runs])),
        "q_gap": median_of(runs, "q_gap"),
    }


def _times(full: Rows, runs: Rows, name: str) -> float | None:
    """How many times fewer operations; None where there are none, as of runs without an update."""
    return full[0][name] / runs[0][name] if runs[0][name] else None


def median_of(runs: Rows, name: str) -> float | None:
    """Median of a figure over the runs that have it; None where none has."""
    values = [run[name] for run in runs if run.get(name) is not None]
    return float(np.median(values)) if values else None


COLUMNS = {
    "task": "task", "arm": "arm", "seeds": "seeds", "return": "return", "score": "score (IQM)",
    "low": "from", "high": "to", "wins": "P(above tiny+)", "weights": "weights",
    "train_times": "training FLOP, times fewer", "inference_times": "acting, times fewer",
    "cpu_s": "training CPU [s]",
}  # fmt: skip
"""Columns of a Markdown table."""


def markdown_table(rows: Rows) -> str:
    """The summary as a Markdown table."""
    lines = [list(COLUMNS.values()), ["---"] * len(COLUMNS)]
    for row in rows:
        values = [row[key] for key in COLUMNS]
        lines.append([f"{v:.4g}" if isinstance(v, float) else str("" if v is None else v)
                      for v in values])  # fmt: skip
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
