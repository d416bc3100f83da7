"""What the command lines of training share: how runs are done, looked up, printed and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marl_common import LARGEST_SEED, MOST_THREADS, option
from marl_runs.json_values import print_json
from marl_runs.metric_boards import check_board
from marl_runs.palette import writable
from marl_runs.store.errors import StoreError
from marl_runs.store.records import RunStatus
from marl_runs.tables import tell

if TYPE_CHECKING:
    from marl_runs.runner.experiment import Experiment
    from marl_runs.store.query import StoredRun
    from marl_runs.store.store import Store

RunName = Annotated[str, typer.Argument(help="Number of a finished run, or how its key begins.")]


@dataclass(frozen=True)
class SeedOptions:
    """Seeds of a command that trains.

    Attributes:
        seed: One run each.
    """

    seed: tuple[int, ...] = option(
        (0,), "Repeatable.", kind=int, low=0, high=LARGEST_SEED, shown="0"
    )


@dataclass(frozen=True)
class StoreOptions:
    """Where runs are kept, and how many are done at once.

    Attributes:
        store: Runs are kept here.
        workers: Runs at the same time.
    """

    store: str = option("runs.db")
    workers: int = option(1, low=1, high=MOST_THREADS)

    def done(self, runs: Sequence[Experiment]) -> tuple[list[StoredRun], bool]:
        """Do what is not done: the runs as the store has them, and whether all are finished."""
        from marl_runs.runner.runner import run_all  # and with it the database
        from marl_runs.store.store import Store

        with Store.open(self.store) as opened:
            summary = run_all(runs, opened, workers=self.workers)
            stored = [run for key in summary.keys for run in opened.runs(key=key)[:1]]
        finished = [run for run in stored if run.status is RunStatus.FINISHED]
        return stored, len(finished) == len(runs)


@dataclass(frozen=True)
class RunningOptions(StoreOptions):
    """How runs are done and kept; nothing here changes what is learned.

    Attributes:
        threads: Processor threads.
        log: tensorboard:FOLDER or mlflow:FOLDER: metrics while it runs.
    """

    threads: int = option(1, low=1, high=MOST_THREADS)
    log: str | None = option(None)

    def check(self, *files: Path | None) -> None:
        """Make sure that board and files can be written, before anything runs.

        Raises:
            BoardError: The board cannot.
            FigureError: A file cannot.
        """
        if self.log is not None:
            check_board(self.log)
        for path in files:
            if path is not None:
                writable(path.absolute().parent)


def kept_run(store: Store, name: str, kinds: Sequence[str], *, finished: bool = True) -> StoredRun:
    """A run of a store, by its number or the start of its key.

    Args:
        store: The store.
        name: The number, or how the key begins.
        kinds: Kinds that it may be of; the first is that of the program's `train`.
        finished: Whether it must be finished.

    Raises:
        StoreError: There is no such run, it is of another kind, or not finished.
    """
    found = store.run(name)
    if found.kind not in kinds or (finished and found.status is not RunStatus.FINISHED):
        program = {"mpe": "mpe-marl"}.get(kinds[0], kinds[0])
        raise StoreError(
            f"run {name!r} is a {found.kind} run, {found.standing}; expected a finished run of "
            f"`{program} train`. The same command continues it."
        )
    return found


def print_result(rows: Any, as_json: bool, table: Callable[..., None], *more: Any) -> None:
    """Print rows as JSON, or by a function that prints their table and takes `more` as well."""
    if as_json:
        print_json(rows)
    else:
        table(rows, *more)


def leave_unless(complete: bool) -> None:
    """End a command with exit code 1 where runs are not finished."""
    if not complete:
        raise typer.Exit(1)


def tell_written(paths: Iterable[Path]) -> None:
    """Say which files were written, on standard error."""
    for path in paths:
        tell(f"wrote {path}")
