"""Runs of the sparse-learning tables, each a file: done once, in any number of processes.

A table's script lists its runs; `--list` prints a command a run, `--shard I/N` does every N-th of
them here, and without either all are done, `--workers` at a time, and the table is printed from the
files. `--schedule smoke` does all of it in miniature, to see that it works.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from benchmarks.frame import asked, known
from mast import MastConfig
from mast.sweeping import write_rows

RUN = [sys.executable, "-m", "mast"]
SEEDS = range(5)


class Schedule(NamedTuple):
    """How long a table's runs are.

    Attributes:
        steps: Steps of the environment of each run.
        seeds: Seeds of each arm that are run at most, the first ones; None: all that it lists.
        episodes: Episodes of an evaluation; None: what `mast train` plays.
        folder: Where the files of the runs are unless a folder is named.
    """

    steps: int
    seeds: int | None
    episodes: int | None
    folder: str


SCHEDULES = {
    "smoke": Schedule(6_000, 1, 32, "mast-smoke"),
    "short": Schedule(300_000, None, None, "mast-runs"),
    "long": Schedule(2_000_000, None, None, "mast-long"),
}
WIDTH = "--hidden"
"""The option of the agents' width; a cell that has it names it first."""
WIDE = (WIDTH, "256")
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run of a table.

    Attributes:
        task: Its task.
        arm: Its arm.
        sparsity: Share of the weights that is left out; of dense arms 0.
        seed: Its seed.
        algorithm: Its algorithm.
        options: Other options of ``mast train``.
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

    @property
    def file(self) -> str:
        """What its file is called."""
        text = f"{self.task} {self.algorithm} {self.label} seed{self.seed}"
        return "".join(c if c.isalnum() or c in ".+" else "_" for c in text) + ".json"

    def words(
        self, folder: Path, steps: int, rate: float | None = None, episodes: int | None = None
    ) -> list[str]:
        """The words after ``mast`` of its command; without a rate or episodes the default's."""
        kept = ["--sparsity", f"{self.sparsity:g}"] if self.sparsity else []
        packed = (
            self.sparsity and not self.arm.startswith("tiny") and "--backend" not in self.options
        )
        backend = ["--backend", "compiled"] if packed else []
        lr = [] if rate is None else ["--lr", f"{rate:g}"]
        played = [] if episodes is None else ["--episodes", str(episodes)]
        path = folder / self.file
        return [
            "train", "--task", self.task, "--algo", self.algorithm, "--arm", self.arm, *kept,
            *backend, *self.options, *lr, *played, "--seed", str(self.seed), "--steps", str(steps),
            "--store", str(path.with_suffix(".db")), "--out", str(path),
        ]  # fmt: skip


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


def run_table(
    text: str | None,
    cells: Sequence[Cell],
    table: Callable[..., None],
    schedule: str = "short",
    metrics: Sequence[str] = (),
) -> None:
    """Read the command line and do what it says.

    Args:
        text: What the script is for.
        cells: Its runs.
        table: Prints the table of the results.
        schedule: The one of :data:`SCHEDULES` that is meant unless another is named.
        metrics: What ``--metric`` may choose, handed to the table.
    """
    args = arguments(text, schedule, metrics)
    length = SCHEDULES[args.schedule]
    folder = args.folder or Path(length.folder)
    chosen = first_seeds(cells, length.seeds)
    if args.task:
        chosen = [cell for cell in chosen if cell.task in args.task]
    rates = Rates(args.rates)
    if args.rates:
        chosen = [cell for cell in chosen if rates.of(cell) is not None]
    words = {
        cell: cell.words(folder, args.steps or length.steps, rates.of(cell), length.episodes)
        for cell in chosen
    }
    if args.list:
        for cell in chosen:
            print(shlex.join(["mast", *words[cell]]))
        return
    first, _, count = args.shard.partition("/")
    ours = [] if args.collect else chosen[int(first) :: int(count)]
    do_all(ours, folder, words, args.workers)
    rows = collected(chosen, folder)
    if args.record is not None:
        rows = recorded(args.record, rows, chosen)
    more = {"metric": args.metric} if metrics else {}
    table(rows, args.csv, **more)


def arguments(text: str | None, schedule: str, metrics: Sequence[str]) -> argparse.Namespace:
    """What the command line says, see :func:`run_table`."""
    metric = {"metric": (metrics[0], None, metrics)} if metrics else {}
    return asked(
        text,
        schedule=(schedule, None, SCHEDULES),
        folder=(Path, "files of the runs (default: the schedule's, as mast-runs)"),
        list=(False, "print a command a run"),
        shard=("0/1", "do every N-th run from the I-th: I/N"),
        workers=(1, "runs at the same time"),
        collect=(False, "do no run, print what is there"),
        task=([str], "only these tasks"),
        steps=(int, "steps of a run, if not the schedule's"),
        csv=(Path, "also write the table to this file"),
        record=(Path, "a row a run: add these, and print the table of all its rows"),
        rates=(Path, "what `mast.rates` wrote; only arms that it knows are run, each so"),
        **metric,
    )


def first_seeds(cells: Sequence[Cell], count: int | None) -> list[Cell]:
    """The runs of the first seeds."""
    seeds = sorted({cell.seed for cell in cells})[:count]
    return [cell for cell in cells if cell.seed in seeds]


def do_all(
    cells: Sequence[Cell], folder: Path, words: Mapping[Cell, Sequence[str]], workers: int
) -> None:
    """Do runs, some at a time; none is begun after one that did not end."""
    stopped = Event()

    def one(cell: Cell) -> None:
        if stopped.is_set():
            return
        try:
            do(cell, folder, words[cell])
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(workers) as pool:
        try:
            deque(pool.map(one, cells), maxlen=0)
        finally:
            stopped.set()  # Ctrl-C ends the runs that are under way, and here the others


def do(cell: Cell, folder: Path, words: Sequence[str]) -> None:
    """Do a run, or go on with it, unless the folder has its result; leave where it does not end."""
    if finished(folder / cell.file) is None:
        code = subprocess.run([*RUN, *words]).returncode
        if code:
            raise SystemExit(code)


def finished(path: Path) -> Row | None:
    """The result of a finished run; None: there is none, or it was interrupted."""
    if not path.exists():
        return None
    (result,) = json.loads(path.read_text(encoding="utf-8"))
    return result if result["status"] == "finished" else None


WHOLE = ("seed", "weights", "train_flops", "inference_flops", "train_flops_executed")
WORDS = ("task", "algorithm", "arm")
"""Columns of a record that are whole numbers, and those that are words."""


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
    write_csv(path, [run_row(row) for row in runs.values()])
    asked = [(cell.task, cell.algorithm, cell.label, cell.seed) for cell in cells]
    found = {name_of(row): row for row in read_csv(path)}
    return [found[name] for name in asked if name in found]


def name_of(row: Row) -> tuple[Any, ...]:
    """What makes two runs the same."""
    return row["task"], row["algorithm"], row["arm"], row["seed"]


def run_row(row: Row) -> Row:
    """A run by itself: no score, so it says something of tasks without a run of dense+, too."""
    return {
        "task": row["task"], "algorithm": row["algorithm"], "arm": row["arm"], "seed": row["seed"],
        "lr": row["lr"], "return": row["return"], "highest": max(row["returns"]),
        "q_gap": row["q_gap"],
        **{name: row[name] for name in WHOLE if name != "seed"}, "cpu_s": row["train_cpu_s"][-1],
    }  # fmt: skip


def read_csv(path: Path) -> list[Row]:
    """The runs of a record, as :func:`collected` gives them."""
    rows = [{key: _value(key, text) for key, text in row.items()} for row in known(path)]
    return [{**row, "returns": [row["highest"]], "train_cpu_s": [row["cpu_s"]]} for row in rows]


def _value(name: str, text: str) -> Any:
    if name in WORDS:
        return text
    return (int(text) if name in WHOLE else float(text)) if text else None


def write_csv(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    """Write a table where a file was named."""
    if path is not None and rows:
        write_rows(path, rows)


def collected(cells: Sequence[Cell], folder: Path) -> list[Row]:
    """Results of the runs that have a file."""
    found = []
    for cell in cells:
        result = finished(folder / cell.file)
        if result is not None:
            named = {"task": cell.task, "algorithm": cell.algorithm, "arm": cell.label}
            found.append({**result, **named, "seed": cell.seed, "lr": _rate(result)})
    return found


def of_width(rows: Sequence[Row], *, wide: bool) -> list[Row]:
    """The runs of wide teams or of those of the default's width, arms without their width."""
    width = " " + " ".join(WIDE)
    found = [row for row in rows if row["arm"].endswith(width) == wide]
    return [{**row, "arm": row["arm"].removesuffix(width)} for row in found]


def _rate(result: Row) -> float:
    """The learning rate; a run's settings name only what differs from the defaults."""
    rate: float = result["config"].get("lr", MastConfig().lr)
    return rate
