"""Whether a result file holds: mappings priced again, budgets, and searches made anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import baselines
from maestro_env import ActionError, bench_problems
from mapper.bench.bench_file import SAMPLES, TASKS, TIMED, BenchFile, BenchRow, timed_budget
from mapper.bench.bench_plan import tasks_of
from mapper.bench.bench_run import BenchError, BenchRun
from mapper.results.verdicts import TOLERANCE

BELOW = 1e-9
"""Share by which rounding may put a value below the optimum."""


@dataclass(frozen=True)
class BenchChecked:
    """What was checked of a file that holds.

    Args:
        priced: Mappings whose value was worked out again.
        replayed: Searches that were made anew; 0 where the searcher is not one of ours.
    """

    priced: int
    replayed: int


def can_replay(found: BenchFile) -> bool:
    """Whether a file's searcher is registered here and its options can't name a file."""
    options = found.searcher.options.values()
    known = found.searcher.name in baselines.names()
    return known and all(isinstance(value, int | float) for value in options)


def check_file(found: BenchFile) -> BenchChecked:
    """Check a result file.

    Raises:
        BenchError: It does not hold; says what is wrong.
    """
    given = [(row.task, row.problem, row.seed) for row in found.rows]
    if sorted(given) != sorted(tasks_of(found.seeds)):
        raise BenchError(
            f"rows: got {len(given):,} searches, expected one for each of {len(TASKS)} tasks, "
            f"{len(bench_problems())} problems and {found.seeds} seeds from 0"
        )
    for row in found.rows:
        _check_budget(found, row)
        _check_value(row)
    again = found.rows if can_replay(found) else ()
    for row in again:
        _check_replay(found, row)
    return BenchChecked(len(found.rows), len(again))


def _named(row: BenchRow) -> str:
    return f"problem {row.problem}, {row.task}, seed {row.seed}"


def _check_budget(found: BenchFile, row: BenchRow) -> None:
    """Check that a search has its task's budget, and kept it."""
    if row.task == TIMED:
        due = timed_budget(found.of(TASKS[len(SAMPLES) - 1], row.problem))
    else:
        due = int(row.task)
    if row.budget != due or row.samples > row.budget:
        raise BenchError(
            f"{_named(row)}: {row.samples:,} samples of a budget of {row.budget:,}, expected at "
            f"most {due:,}"
        )


def _check_value(row: BenchRow) -> None:
    """Evaluate the mapping again."""
    case = bench_problems()[row.problem - 1]
    if row.value is None or row.action is None:
        if row.value is not None or row.action is not None:
            raise BenchError(f"{_named(row)}: expected a value and an action, or none of them")
        return
    try:
        again = float(case.build().look(np.array([row.action])).values[0])
    except ActionError as error:
        raise BenchError(f"{_named(row)}: {error}") from None
    if not math.isclose(again, row.value, rel_tol=TOLERANCE):
        raise BenchError(f"{_named(row)}: its mapping has the value {again!r}, not {row.value!r}")
    if row.value < case.optimum * (1 - BELOW):
        raise BenchError(f"{_named(row)}: {row.value!r} is below the optimum {case.optimum!r}")


def _check_replay(found: BenchFile, row: BenchRow) -> None:
    """Search again with the same seed."""
    searcher = found.searcher
    run = BenchRun(row.problem, searcher.name, row.budget, row.seed, searcher.options)
    again = run.found()
    if (again["samples"], again["best_value"]) != (row.samples, row.value):
        raise BenchError(
            f"{_named(row)}: the same search ends at {again['best_value']!r} after "
            f"{again['samples']:,} samples here, not at {row.value!r} after {row.samples:,}; made "
            f"with {', '.join(f'{name} {version}' for name, version in found.versions.items())}"
        )
