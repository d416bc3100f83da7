"""The command line: ``mast train|compare|sweep|flops|config|masks|tickets|export|play|plot``.

Options of settings are written where the settings are (`mast.config`, `mast.asked`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marl_common import AsJson, CommandGroup, command_of, make_app, takes_records, write_text
from marl_runs import (
    RunName,
    SeedOptions,
    leave_unless,
    print_result,
    tell,
    tell_written,
)
from mast import show
from mast.asked import ComparedAsked, CountedAsked, MastAsked, MastRunning, MastStore
from mast.running import run_row


class MastGroup(CommandGroup):
    """The commands of ``mast``."""

    packages = ("marl_common", "marl_runs", "sparse_training", "mpe_marl", "mast")
    extra = "mast"


app = make_app(
    MastGroup,
    "mast",
    "Value-based multi-agent learning on 5-10 % of the weights, and what it saves.",
)


Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Greedy episodes to play.")]
StorePath = Annotated[str, typer.Option("--store", help="Runs are kept here.")]


@app.command()
@takes_records
def train(
    asked: MastAsked,
    seeds: SeedOptions,
    running: MastRunning,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the runs' results as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train and keep the run in the store; the same command continues where it was stopped."""
    from marl_runs import json_text

    running.check(out)
    stored, complete = running.done(running.runs([asked.config()], seeds.seed))
    rows = list(map(run_row, stored))
    if out is not None:
        write_text(out, json_text(rows) + "\n")
        tell_written([out])
    print_result(rows, as_json, show.print_training)
    leave_unless(complete)


@app.command()
@takes_records
def compare(
    asked: ComparedAsked,
    running: MastRunning,
    arms: Annotated[
        str, typer.Option(help="Arms by commas; dense+ is the score of 100; mast-sm leaves sm out.")
    ] = "dense+,tiny+,mast",
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Seeds 0, 1, ... of each arm.")] = 5,
    markdown: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train arms with the same seeds and starts: scores, intervals, who wins, and what it cost."""
    from mast.comparing import markdown_table, named_rows, random_scores, summary

    running.check(markdown)
    configs = asked.cells(arms)
    runs = running.runs(configs, range(seeds))
    random = random_scores([config.task for config in configs], configs[0].team)
    stored, complete = running.done(runs)
    leave_unless(complete)
    found = summary(named_rows(runs, map(run_row, stored)), random)
    if markdown is not None:
        write_text(markdown, markdown_table(found))
        tell_written([markdown])
    print_result(found, as_json, show.print_comparison)


@app.command()
@takes_records
def sweep(
    plan: Annotated[Path, typer.Argument(help="YAML file: settings, and what varies.")],
    kept: MastStore,
    listed: Annotated[
        bool, typer.Option("--list", help="Print a command a run and the estimate; run nothing.")
    ] = False,
    collect: Annotated[bool, typer.Option(help="Only read the runs that are finished.")] = False,
    out: Annotated[
        Path | None, typer.Option("--csv", help="Also write the table to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Do all runs of a plan that the store has not finished; a row for each configuration."""
    from mast.sweeping import list_plan, read_plan, sweep_rows, wanted_runs, write_rows

    MastRunning().check(out)
    planned, store = read_plan(plan), Path(kept.store)
    if listed:
        tell(list_plan(planned, store))
        return
    runs = wanted_runs(planned, store if collect else None)
    stored, complete = kept.done(runs)
    leave_unless(complete)
    found = sweep_rows(runs, list(map(run_row, stored)))
    if out is not None and found:
        write_rows(out, found)
    print_result(found, as_json, show.print_sweep)


@app.command()
@takes_records
def flops(
    asked: CountedAsked,
    steps: Annotated[
        int, typer.Option(min=1, max=10**12, help="Steps of the environment.")
    ] = 300_000,
    as_json: AsJson = False,
) -> None:
    """Count what training and acting cost, topology steps included, beside a dense network."""
    from mast.costs import cost_rows

    print_result(cost_rows(asked.configs(), steps), as_json, show.print_costs)


@app.command("config")
@takes_records
def resolved(asked: MastAsked) -> None:
    """Print the whole configuration as YAML, which --config reads."""
    from mast.settings import settings_text

    print(settings_text(asked.config()), end="")


@app.command()
def masks(run: RunName, store: StorePath = "mast-runs.db", as_json: AsJson = False) -> None:
    """Show a run's masks: density of each agent and layer, degrees, and how they changed."""
    from mast.masks import masks_of

    print_result(masks_of(store, run), as_json, show.print_masks)


@app.command()
@takes_records
def tickets(
    run: RunName,
    seeds: SeedOptions,
    kept: MastStore,
    episodes: Episodes = 1024,
    as_json: AsJson = False,
) -> None:
    """Retrain with a fixed mask: the run's last one, with its original start, RigL's, random."""
    from marl_runs import Store
    from mast.tickets import ticket_runs

    with Store.open(kept.store, create=False) as opened:
        runs = ticket_runs(opened, run, seeds.seed, episodes)
    stored, complete = kept.done(runs)
    print_result(list(map(run_row, stored)), as_json, show.print_training)
    leave_unless(complete)


@app.command()
def export(
    run: RunName,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "team.safetensors"
    ),
    which: Annotated[
        str, typer.Option(help="last, best, or the steps of an evaluation (train --keep-all).")
    ] = "last",
    store: StorePath = "mast-runs.db",
    as_json: AsJson = False,
) -> None:
    """Write a finished run's agents: kept values and their places, which need no PyTorch."""
    from mast.kept import kept_team

    policy = kept_team(store, run, which)
    policy.save(out)
    tell_written([out])
    print_result([policy.sizes(out)], as_json, show.print_sizes)


@app.command()
def play(
    file: Annotated[Path, typer.Argument(help="A file that `mast export` wrote.")],
    episodes: Episodes = 1024,
    as_json: AsJson = False,
) -> None:
    """Play greedy episodes from the starts of every evaluation, without PyTorch."""
    from mast.exporting import SparsePolicy
    from mast.playing import played

    print_result([played(SparsePolicy.load(file), episodes)], as_json, show.print_play)


@app.command()
def plot(
    stores: Annotated[list[Path], typer.Argument(help="Stores of `mast train` or `mast compare`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file; SVG and PDF beside it.")] = (
        Path("mast-curves.png")
    ),
) -> None:
    """Draw returns against steps, a panel a task, a curve an arm with its interval."""
    from mast.figures import draw_curves, stored_curves

    tell_written(draw_curves(stored_curves(stores), out))


def main(arguments: list[str] | None = None) -> None:
    """Run ``mast`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mast``; the process's own by default. ``--debug`` among them
            shows the traceback of an error.
    """
    command_of(app)(arguments, prog_name="mast")
