"""The command line: ``mast train|compare|sweep|flops|config|masks|tickets|export|play|plot``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from marl_common import LARGEST_SEED, MOST_THREADS, CommandGroup, make_app
from marl_runs import print_json, tell
from mast.options import Given, takes, takes_config


class MastGroup(CommandGroup):
    """The commands of ``mast``."""

    packages = ("marl_common", "marl_runs", "sparse_training", "mpe_marl", "mast")
    extra = "mast"


app = make_app(
    MastGroup,
    "mast",
    "Value-based multi-agent learning on 5-10 % of the weights, and what it saves.",
)


def _limited(default: int, most: int) -> Any:
    return field(default=default, metadata={"min": 1, "max": most})


@dataclass(frozen=True)
class RunOptions:
    """How runs are done.

    Attributes:
        steps: Steps of the environment.
        episodes: Greedy episodes to play.
        threads: Processor threads.
        store: Runs are kept here.
        workers: Runs at the same time.
        log: tensorboard:FOLDER or mlflow:FOLDER: metrics while it runs.
        keep_all: Keep the team of every evaluation, not of the best alone.
    """

    steps: int = _limited(300_000, 10**12)
    episodes: int = _limited(1024, 10**6)
    threads: int = _limited(1, MOST_THREADS)
    store: str = "mast-runs.db"
    workers: int = _limited(1, MOST_THREADS)
    log: str | None = None
    keep_all: bool = field(default=False, metadata={"names": ("--keep-all",)})

    def training(self, config: Any, seed: int) -> Any:
        """A run."""
        from mast.experiment import ValueTraining

        return ValueTraining(
            config, seed, self.steps, self.episodes, self.threads, self.log, self.keep_all
        )

    def rows(self, runs: list[Any]) -> tuple[list[dict[str, Any]], bool]:
        """Do runs; their results, and whether all of them finished."""
        from mast.running import run_rows

        return run_rows(runs, self.store, self.workers)

    def check(self, *files: Path | None) -> None:
        """Make sure that board and files can be written, before anything runs."""
        from marl_runs import check_board, writable

        if self.log is not None:
            check_board(self.log)
        for path in files:
            if path is not None:
                writable(path.absolute().parent)


Seeds = Annotated[
    list[int] | None,
    typer.Option("--seed", min=0, max=LARGEST_SEED, help="Repeatable.", show_default="0"),
]
Steps = Annotated[int, typer.Option(min=1, max=10**12, help="Steps of the environment.")]
StorePath = Annotated[str, typer.Option("--store", help="Runs are kept here.")]
Workers = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Runs at the same time.")]
Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Greedy episodes to play.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]


@app.command()
@takes_config()
@takes(RunOptions)
def train(
    given: Given,
    run: RunOptions,
    seed: Seeds = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the runs' results as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train and keep the run in the store; the same command continues where it was stopped."""
    from mast.costs import check_run

    run.check(out)
    config = given.config()
    check_run(config)
    rows, complete = run.rows([run.training(config, s) for s in seed or [0]])
    if out is not None:
        _write_json(out, rows)
    _show("print_training", rows, as_json)
    if not complete:
        raise typer.Exit(1)


@app.command()
@takes_config(("task", "sparsity"), ("arm", "without"), task="tag-3", backend="compiled")
@takes(RunOptions)
def compare(
    given: Given,
    run: RunOptions,
    arms: Annotated[
        str, typer.Option(help="Arms by commas; dense+ is the score of 100; mast-sm leaves sm out.")
    ] = "dense+,tiny+,mast",
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Seeds 0, 1, ... of each arm.")] = 5,
    markdown: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train arms with the same seeds and starts: scores, intervals, who wins, and what it cost."""
    from mast.comparing import markdown_table, random_scores, summary
    from mast.costs import check_run
    from mast.running import cells_of

    run.check(markdown)
    tasks, sparsities = given.several("task", ["tag-3"]), given.several("sparsity", [0.9])
    (backend,) = given.several("backend", ["compiled"])
    configs = [given.config(**c) for c in cells_of(tasks, arms.split(","), sparsities, backend)]
    for config in configs:
        check_run(config)
    random = random_scores(tasks, configs[0].team)
    runs = [run.training(config, seed) for config in configs for seed in range(seeds)]
    rows, complete = run.rows(runs)
    if not complete:
        raise typer.Exit(1)
    found = summary(
        [
            {**row, "task": one.config.task, "arm": one.config.label}
            for row, one in zip(rows, runs, strict=True)
        ],
        random,
    )
    if markdown is not None:
        _write_text(markdown, markdown_table(found))
    _show("print_comparison", found, as_json)


@app.command()
def sweep(
    plan: Annotated[Path, typer.Argument(help="YAML file: settings, and what varies.")],
    store: StorePath = "mast-runs.db",
    workers: Workers = 1,
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
    from mast.costs import check_run
    from mast.running import run_rows
    from mast.sweeping import finished_keys, list_plan, read_plan, sweep_rows, write_rows

    RunOptions().check(out)
    planned = read_plan(plan)
    if listed:
        commands, hours, done = list_plan(planned, Path(store))
        for command in commands:
            print(command)
        tell(f"{len(commands)} runs to do, about {hours:.1f} h of processor time; {done} finished")
        return
    runs = [one.run for one in planned]
    if collect:
        keys = finished_keys(Path(store))
        runs = [one for one in runs if one.identity().key in keys]
    for config in dict.fromkeys(one.config for one in runs):
        check_run(config)
    rows, complete = run_rows(runs, store, workers)
    if not complete:
        raise typer.Exit(1)
    found = sweep_rows(runs, rows)
    if out is not None and found:
        write_rows(out, found)
    _show("print_sweep", found, as_json)


@app.command()
@takes_config(("sparsity",), sparsity="0.9 0.95", backend="compiled")
def flops(given: Given, steps: Steps = 300_000, as_json: AsJson = False) -> None:
    """Count what training and acting cost, topology steps included, beside a dense network."""
    from mast.costs import cost_rows

    backend = given.values.get("backend", "compiled")
    configs = [
        given.config(sparsity=s, backend=backend) for s in given.several("sparsity", [0.9, 0.95])
    ]
    _show("print_costs", cost_rows(configs, steps), as_json)


@app.command("config")
@takes_config()
def resolved(given: Given) -> None:
    """Print the whole configuration as YAML, which --config reads."""
    from mast.settings import settings_text

    print(settings_text(given.config()), end="")


RunName = Annotated[str, typer.Argument(help="Number of a finished run, or how its key begins.")]


@app.command()
def masks(run: RunName, store: StorePath = "mast-runs.db", as_json: AsJson = False) -> None:
    """Show a run's masks: density of each agent and layer, degrees, and how they changed."""
    from marl_runs import Store
    from mast.kept import finished_run, learnt
    from mast.masks import evolution, layer_rows

    with Store.open(store, create=False) as opened:
        found = finished_run(opened, run)
        _, state = learnt(opened.folder(found.key))
        changes = evolution(opened, found.id)
    rows = layer_rows(state["learner"])
    if as_json:
        print_json({"layers": rows, "evolution": changes})
        return
    _show("print_layers", rows, False)
    _show("print_evolution", changes, False)


@app.command()
def tickets(
    run: RunName,
    seed: Seeds = None,
    episodes: Episodes = 1024,
    store: StorePath = "mast-runs.db",
    workers: Workers = 1,
    as_json: AsJson = False,
) -> None:
    """Retrain with a fixed mask: the run's last one, with its original start, RigL's, random."""
    from marl_runs import Store
    from mast.running import run_rows
    from mast.tickets import ticket_runs

    with Store.open(store, create=False) as opened:
        runs = ticket_runs(opened, run, seed or [0], episodes)
    rows, complete = run_rows(runs, store, workers)
    _show("print_training", rows, as_json)
    if not complete:
        raise typer.Exit(1)


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
    from marl_runs import Store
    from mast.exporting import SparsePolicy
    from mast.kept import finished_run, team_file

    with Store.open(store, create=False) as opened:
        found = finished_run(opened, run)
        policy = SparsePolicy.load(team_file(opened.folder(found.key), which))
    policy.save(out)
    tell(f"wrote {out}")
    _show("print_sizes", [policy.sizes(out)], as_json)


@app.command()
def play(
    file: Annotated[Path, typer.Argument(help="A file that `mast export` wrote.")],
    episodes: Episodes = 1024,
    as_json: AsJson = False,
) -> None:
    """Play greedy episodes from the starts of every evaluation, without PyTorch."""
    from mast.exporting import SparsePolicy
    from mast.playing import played

    _show("print_play", [played(SparsePolicy.load(file), episodes)], as_json)


@app.command()
def plot(
    stores: Annotated[list[Path], typer.Argument(help="Stores of `mast train` or `mast compare`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file; SVG and PDF beside it.")] = (
        Path("mast-curves.png")
    ),
) -> None:
    """Draw returns against steps, a panel a task, a curve an arm with its interval."""
    from mast.figures import draw_curves, stored_curves

    for path in draw_curves(stored_curves(stores), out):
        tell(f"wrote {path}")


def _write_text(path: Path, text: str) -> None:
    from marl_common import atomic_write

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
    tell(f"wrote {path}")


def _write_json(path: Path, value: Any) -> None:
    from marl_runs import json_text

    _write_text(path, json_text(value) + "\n")


def _show(table: str, rows: Any, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    from mast import show

    getattr(show, table)(rows)


def main(arguments: list[str] | None = None) -> None:
    """Run ``mast`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mast``; the process's own by default. ``--debug`` among them
            shows the traceback of an error.
    """
    app(arguments, prog_name="mast")
