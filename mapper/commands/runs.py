"""`mapper runs`: what the store holds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands.options import DEFAULT_STORE, OptionError, StoreOption, check_word
from mapper.show.run_tables import print_run, print_runs, shown_best
from marl_common import AsJson
from marl_runs import print_json, say, tell

if TYPE_CHECKING:
    from marl_runs import StoredRun

SUMMARY = (
    *("id", "key", "kind", "name", "seed", "status", "budget", "samples", "best_value"),
    *("cpu_s", "wall_s", "started", "ended"),
)
MANIFEST = ("attempt", "error", "command", "git_revision", "versions", "spec", "result")
"""Fields of a run that are listed, and those that are shown of a single one besides."""

app = typer.Typer(help="List, show and remove the runs of a store.", no_args_is_help=True)


@app.command("list")
def list_runs(
    store: StoreOption = DEFAULT_STORE,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as search.")] = None,
    status: Annotated[
        str | None, typer.Option(help="Only running, finished, failed or interrupted.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List runs, oldest first."""
    from marl_runs import RunStatus, Store

    if status is not None:
        check_word("--status", status, RunStatus, "one of ")
    with Store.open(store, create=False) as opened:
        runs = opened.runs(kind=kind, status=status)
        damaged = opened.damaged()
    if as_json:
        print_json([_summary(run) for run in runs])
    else:
        print_runs([{**_summary(run), "best": shown_best(run)} for run in runs])
    for run in damaged:
        tell(f"run {run.id} ({run.name}) is damaged: {run.why}")


@app.command("show")
def show_run(
    run: Annotated[
        str,
        typer.Argument(help="Number of the run, or six characters or more of its key's beginning."),
    ],
    store: StoreOption = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Show one run: its manifest, its result, and what was recorded."""
    from marl_runs import Store

    with Store.open(store, create=False) as opened:
        found = opened.run(run)
        details = _summary(found) | _manifest(found) | {"metrics": opened.metric_names(found.id)}
    if as_json:
        print_json(details)
        return
    print_run(details)


@app.command("rm")
def remove_runs(
    runs: Annotated[list[str], typer.Argument(help="Numbers, or beginnings of keys.")],
    store: StoreOption = DEFAULT_STORE,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove them without asking.")] = False,
) -> None:
    """Remove runs with all they recorded; it is said what goes, and asked."""
    from marl_runs import Store, StoreError

    with Store.open(store, create=False) as opened:
        numbers = [opened.number(text) for text in runs]
        found = [run for run in opened.runs() if run.id in numbers]
        busy = [run for run in found if run.standing == "running"]
        if busy:
            raise StoreError(
                f"run {busy[0].id}: {busy[0].name} is being done by a process; stop that first"
            )
        for run in found:
            say(f"{run.id}: {run.name} ({run.standing}, {run.samples:,} samples)")
        for damaged in opened.damaged():
            if damaged.id in numbers:
                say(f"{damaged.id}: {damaged.name} (damaged)")
        if not yes and not _agreed(len(numbers)):
            say("nothing was removed")
            return
        removed = opened.remove(numbers)
    say(f"removed {_runs(removed)}")


def _agreed(count: int) -> bool:
    """Whether the person wants so many runs removed.

    Raises:
        OptionError: There is nobody to ask.
    """
    if not _asked_here():
        raise OptionError(f"rm: {_runs(count)} would go; nobody can be asked here, so give --yes")
    return typer.confirm(f"Remove {_runs(count)} with all they recorded?", default=False)


def _asked_here() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _runs(count: int) -> str:
    return f"{count} {'run' if count == 1 else 'runs'}"


def _summary(run: StoredRun) -> dict[str, Any]:
    times = {"started": _time(run.started), "ended": _time(run.ended)}
    return {name: getattr(run, name) for name in SUMMARY} | {"status": run.standing, **times}


def _manifest(run: StoredRun) -> dict[str, Any]:
    note = {"note": JUDGED} if counted_as_in_0_2(run.spec) else {}
    return {name: getattr(run, name) for name in MANIFEST} | note


JUDGED = "samples counted as in 0.2: its judge priced many more proposals than were evaluated"


def counted_as_in_0_2(spec: Mapping[str, Any]) -> bool:
    """Whether a `zero-shot` run is of version 0.2, where the calls of a judge were no samples."""
    return "varied" in spec.get("config", {})


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
