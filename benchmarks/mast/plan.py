"""Runs of the sparse-learning tables, in a store: done once, in any number of processes.

A table's script lists its runs; all are done, `--workers` at a time, or every N-th of them by
`--share I/N`, and the table is printed of those that the store has. `--quick` does all of it in
miniature, to see that it works.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.frame import Row, Summary, known, rounded, share_of, write
from benchmarks.pool import finished
from marl_runs import RunStatus, Store
from mast.experiment import ValueTraining
from mast.running import run_row
from mast.settings import make_config

SEEDS = range(5)


class Schedule(NamedTuple):
    """How long a table's runs are.

    Attributes:
        steps: Steps of the environment of each run.
        seeds: Seeds of each arm that are run at most, the first ones; None: all that it lists.
        episodes: Episodes of an evaluation.
        store: Where the runs are unless a store is named.
    """

    steps: int
    seeds: int | None
    episodes: int
    store: str


SCHEDULES = {
    "smoke": Schedule(6_000, 1, 32, "mast-smoke.db"),
    "short": Schedule(300_000, None, ValueTraining.episodes, "mast-runs.db"),
    "long": Schedule(2_000_000, None, ValueTraining.episodes, "mast-long.db"),
}
WIDTH = "--hidden"
"""The option of the agents' width; a cell that has it names it first."""
WIDE = (WIDTH, "256")


@dataclass(frozen=True)
class Cell:
    """One run of a table.

    Attributes:
        task: Its task.
        arm: Its arm.
        sparsity: Share of the weights that is left out; of dense arms 0.
        seed: Its seed.
        algorithm: Its algorithm.
        options: Other options of ``mast train``, each with its value.
    """

    task: str
    arm: str
    sparsity: float
    seed: int
    algorithm: str = "qmix"
    options: tuple[str, ...] = ()

    @property
    def whole_arm(self) -> str:
        """The arm and its sparsity."""
        return f"{self.arm} {self.sparsity:g}" if self.sparsity else self.arm

    @property
    def wide_arm(self) -> str:
        """The arm at its width, which has a learning rate of its own."""
        width = self.options[:2] if self.options[:1] == (WIDTH,) else ()
        return " ".join((self.whole_arm, *width))

    @property
    def label(self) -> str:
        """The arm as the tables call it."""
        return "".join((self.whole_arm, *(f" {word}" for word in self.options)))

    def training(
        self, steps: int, rate: float | None = None, episodes: int = ValueTraining.episodes
    ) -> ValueTraining:
        """The run; without a rate with the default's."""
        settings: Row = {"task": self.task, "algorithm": self.algorithm, "arm": self.arm}
        if self.sparsity:
            packed = not self.arm.startswith("tiny")
            settings |= {"sparsity": self.sparsity, "backend": "compiled" if packed else "masked"}
        names = (word.removeprefix("--").replace("-", "_") for word in self.options[::2])
        settings |= dict(zip(names, self.options[1::2], strict=True))
        settings |= {} if rate is None else {"lr": rate}
        return ValueTraining(make_config(settings), self.seed, steps, episodes)


class Rates:
    """The learning rates that ``rates.py`` chose; none without a file.

    Args:
        path: What it wrote.
    """

    def __init__(self, path: Path | None) -> None:
        self._known = {
            (row["algorithm"], row["task"], row["arm"]): float(row["lr"])
            for row in known(path)
            if row["chosen"] == "1"
        }

    def of(self, cell: Cell) -> float | None:
        """The rate of a run; of an algorithm that has none of its own, QMIX's."""
        for algorithm in (cell.algorithm, "qmix"):
            rate = self._known.get((algorithm, cell.task, cell.wide_arm))
            if rate is not None:
                return rate
        return None


def runs_table(
    doc: str | None,
    cells: Sequence[Cell],
    table: Callable[[Sequence[Row]], Sequence[Row]],
    schedule: str = "short",
) -> Summary:
    """A benchmark whose table is made of runs.

    Args:
        doc: Docstring of the benchmark.
        cells: Its runs.
        table: Prints the table of the results; its rows.
        schedule: The one of :data:`SCHEDULES` that is meant unless another is named.
    """

    def rows(given: Any) -> Sequence[Row]:
        length, rates = SCHEDULES[given.schedule], Rates(given.rates)
        seeds = sorted({cell.seed for cell in cells})[: length.seeds]
        chosen = [
            cell
            for cell in cells
            if cell.seed in seeds
            and (not given.task or cell.task in given.task)
            and (not given.rates or rates.of(cell) is not None)
        ]
        steps = given.steps or length.steps
        runs = [cell.training(steps, rates.of(cell), length.episodes) for cell in chosen]
        part, parts = given.share or (0, 1)
        with Store.open(str(given.store or length.store)) as store:
            finished(store, [] if given.collect else runs[part::parts], given.workers)
            found = collected(store, chosen, runs)
        return table(found if given.record is None else recorded(given.record, found, chosen))

    return Summary(
        doc,
        rows,
        options={
            "schedule": (schedule, None, SCHEDULES),
            "store": (Path, "of the runs (default: the schedule's, as mast-runs.db)"),
            "share": (share_of, "do every N-th run from the I-th: I/N"),
            "workers": (1, "runs at the same time"),
            "collect": (False, "do no run, print what is there"),
            "task": ([str], "only these tasks"),
            "steps": (int, "steps of a run, if not the schedule's"),
            "record": (Path, "a row a run: add these, and print the table of all its rows"),
            "rates": (Path, "what `mast.rates` wrote; only arms that it knows are run, each so"),
        },
        quick={"schedule": "smoke"},
        told=lambda rows, given: None,
    )


name_of = itemgetter("task", "algorithm", "arm", "seed")
"""What makes two runs the same."""
RECORD = (
    *("task", "algorithm", "arm", "seed", "lr", "return", "highest", "q_gap"),
    *("weights", "train_flops", "inference_flops", "train_flops_executed", "cpu_s"),
)
"""Columns of a record."""


def recorded(path: Path, rows: Sequence[Row], cells: Sequence[Cell]) -> list[Row]:
    """Add runs to a record, a new run in place of the one of the same name.

    Args:
        path: The record, a CSV file; it need not be there yet.
        rows: The runs to add.
        cells: Which runs to give back.

    Returns:
        The record's runs of these cells, as the file has them.
    """
    runs = {name_of(row): row for row in [*read_csv(path), *rows]}
    write(path, RECORD, (rounded(record_row(row)) for row in runs.values()))
    asked = [(cell.task, cell.algorithm, cell.label, cell.seed) for cell in cells]
    found = {name_of(row): row for row in read_csv(path)}
    return [found[name] for name in asked if name in found]


def record_row(row: Row) -> Row:
    """A run by itself: no score, so it says something of tasks without a run of dense+, too."""
    found = row | {"highest": max(row["returns"]), "cpu_s": row["train_cpu_s"][-1]}
    return {name: found[name] for name in RECORD}


def read_csv(path: Path) -> list[Row]:
    """The runs of a record, as :func:`collected` gives them."""
    rows = [{key: _value(text) for key, text in row.items()} for row in known(path)]
    return [{**row, "returns": [row["highest"]], "train_cpu_s": [row["cpu_s"]]} for row in rows]


def _value(text: str) -> Any:
    """What a cell holds: a number, words, or nothing."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def collected(store: Store, cells: Sequence[Cell], runs: Sequence[ValueTraining]) -> list[Row]:
    """Results of the runs of cells that are finished in a store."""
    found = []
    for cell, run in zip(cells, runs, strict=True):
        for stored in store.runs(key=run.identity().key):
            if stored.status is RunStatus.FINISHED:
                named = {"task": cell.task, "algorithm": cell.algorithm, "arm": cell.label}
                found.append({**run_row(stored), **named, "lr": run.config.lr})
    return found


def of_width(rows: Sequence[Row], *, wide: bool) -> list[Row]:
    """The runs of wide teams or of those of the default's width, arms without their width."""
    width = " " + " ".join(WIDE)
    found = [row for row in rows if row["arm"].endswith(width) == wide]
    return [{**row, "arm": row["arm"].removesuffix(width)} for row in found]
