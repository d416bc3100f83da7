"""All searches of one searcher, done through a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import baselines
from maestro_env import bench_problems
from mapper.bench.bench_file import (
    SAMPLES,
    TASKS,
    TIMED,
    BenchFile,
    BenchRow,
    SearcherFields,
    Task,
    make_file,
    timed_budget,
)
from mapper.bench.bench_run import BenchError, BenchRun
from mapper.compare.plan import Method
from marl_common import brief
from marl_runs import Store, StoredRun, run_all

Asked = Sequence[tuple[Task, BenchRun]]


class StoppedError(Exception):
    """The person asked to stop; what is finished is in the store."""


def check_method(method: Method) -> None:
    """Refuse a searcher that has no gap, or whose first search fails, before a store is opened.

    Raises:
        BenchError: It is one, or an option is no plain value.
        SearcherError: It is not known, or an option is not.
    """
    if baselines.load(method.name, **method.options).capabilities.proves_optimum:
        raise BenchError(
            f"{method.name}: proves the optimum and has no gap; expected a searcher by samples"
        )
    for name, value in method.options.items():
        if not isinstance(value, bool | int | float | str):
            raise BenchError(
                f"{method.name}: option {name} is {value!r}, expected a number, text, true or false"
            )
    first = BenchRun(1, method.name, min(SAMPLES), 0, method.options)
    try:
        first.found()
    except (Exception, SystemExit) as error:
        said = brief(str(error).partition("\n")[0], quoted=False)
        kind = "" if isinstance(error, BenchError) else f"{type(error).__name__}: "
        raise BenchError(f"{first.name}: {kind}{said}") from error


def do_bench(
    method: Method,
    seeds: int,
    store: Store,
    workers: int = 1,
) -> BenchFile:
    """Do what the store does not hold of a searcher's searches; the same call resumes.

    Raises:
        BenchError: A search fails, or breaks a rule.
        StoppedError: Ctrl-C.
    """
    label = BenchRun(1, method.name, 1, 0, method.options).search.label
    searcher = SearcherFields(name=method.name, options=dict(method.options), label=label)
    asked = [
        (task, BenchRun(problem.number, method.name, budget, seed, method.options))
        for seed in range(seeds)
        for task, budget in zip(TASKS, SAMPLES, strict=False)
        for problem in bench_problems()
    ]
    rows = _do(asked, store, workers)
    timed = [
        (TIMED, BenchRun(problem.number, method.name, budget, seed, method.options))
        for problem in bench_problems()
        for budget in [timed_budget(_largest(rows, problem.number))]
        for seed in range(seeds)
    ]
    return make_file(searcher, seeds, rows + _do(timed, store, workers))


def _largest(rows: Iterable[BenchRow], problem: int) -> list[BenchRow]:
    return [row for row in rows if (row.problem, row.budget) == (problem, max(SAMPLES))]


def _do(asked: Asked, store: Store, workers: int) -> list[BenchRow]:
    """Do searches, and read them."""
    runs = [run for _, run in asked]
    outcome = run_all(runs, store, workers=workers)
    if outcome.failed:
        name, error = outcome.failed[0]
        said = error.partition("\n")[0].removeprefix("BenchError: ")
        raise BenchError(f"{name}: {said}")
    if outcome.stopped or outcome.busy:
        raise StoppedError
    stored = {run.key: run for run in store.runs(kind=BenchRun.kind)}
    return [_row(task, run, stored[run.identity().key]) for task, run in asked]


def _row(task: Task, run: BenchRun, stored: StoredRun) -> BenchRow:
    result = stored.result or {}
    return BenchRow(
        problem=run.number,
        task=task,
        seed=run.seed,
        budget=run.budget,
        samples=result["samples"],
        cpu_s=round(float(result["search_cpu_s"]), 4),
        value=result["best_value"],
        action=result["best_action"],
    )


def tasks_of(seeds: int) -> Sequence[tuple[str, int, int]]:
    """Task, problem and seed of every search that a whole file has."""
    return [(t, p.number, s) for t in TASKS for p in bench_problems() for s in range(seeds)]
