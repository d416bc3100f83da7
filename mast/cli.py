"""The command line: ``mast train|compare|flops|masks|tickets|export|play|plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from common import LARGEST_SEED, MOST_THREADS, CommandGroup, version_option
from runs import print_json, tell


class MastGroup(CommandGroup):
    """The commands of ``mast``."""

    packages = ("common", "runs", "sparse_training", "mpe_marl", "mast")
    extra = "mast"


app = typer.Typer(
    cls=MastGroup,
    name="mast",
    help="Value-based multi-agent learning on 5-10 % of the weights, and what it saves.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[bool, version_option("mast")] = False,
) -> None:
    pass


TaskName = Annotated[
    str, typer.Option("--task", "-t", help="spread-N, tag-N, lbf-..., smax-..., module:function.")
]
Algorithm = Annotated[str, typer.Option("--algo", "-a", help="qmix, vdn, cw-qmix, ow-qmix or res.")]
ArmName = Annotated[
    str,
    typer.Option(
        "--arm", help="dense, tiny, static, set, rigl, block4, each plain or '+'; rlx2; mast."
    ),
]
Sparsity = Annotated[float, typer.Option(help="Share of the weights that is left out.")]
Without = Annotated[
    list[str] | None, typer.Option(help="Part of the arm to leave out: sm, hybrid, dual.")
]
Steps = Annotated[int, typer.Option(min=1, max=10**12, help="Steps of the environment.")]
Seeds = Annotated[
    list[int] | None,
    typer.Option("--seed", min=0, max=LARGEST_SEED, help="Repeatable.", show_default="0"),
]
Backend = Annotated[str, typer.Option(help="masked (dense products), or compiled (kept weights).")]
Hidden = Annotated[int, typer.Option(min=1, max=65_536, help="Width of the agents' layers.")]
AgentKind = Annotated[str, typer.Option("--agents", help="mlp, or gru.")]
Own = Annotated[bool, typer.Option("--own", help="A network for each agent, instead of one.")]
Team = Annotated[
    str | None, typer.Option(help="How rewards of agents that differ become one: mean, sum.")
]
Budget = Annotated[str, typer.Option(help="What has a budget of its own: network, layer or all.")]
Setting = Annotated[
    list[str] | None, typer.Option("--set", help="Any other setting: NAME=VALUE. Repeatable.")
]
Threads = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.")]
StorePath = Annotated[str, typer.Option("--store", help="Runs are kept here.")]
Workers = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Runs at the same time.")]
Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Greedy episodes to play.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]


@app.command()
def train(
    task: TaskName = "spread-6",
    algo: Algorithm = "qmix",
    arm: ArmName = "mast",
    sparsity: Sparsity = 0.9,
    without: Without = None,
    steps: Steps = 300_000,
    seed: Seeds = None,
    agents: AgentKind = "mlp",
    own: Own = False,
    hidden: Hidden = 64,
    budget: Budget = "network",
    backend: Backend = "masked",
    device: Annotated[str, typer.Option(help="cpu, or cuda.")] = "cpu",
    team: Team = None,
    setting: Setting = None,
    episodes: Episodes = 1024,
    threads: Threads = 1,
    store: StorePath = "mast-runs.db",
    workers: Workers = 1,
    log: Annotated[
        str | None, typer.Option(help="tensorboard:FOLDER or mlflow:FOLDER: metrics while it runs.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the runs' results as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train and keep the run in the store; the same command continues where it was stopped."""
    from mast.experiment import ValueTraining
    from mast.settings import checked_device, make_config

    config = make_config(
        setting, task=task, algorithm=algo, arm=arm, sparsity=sparsity,
        without=tuple(without or ()), agents=agents, share=not own, hidden=hidden, budget=budget,
        backend=backend, device=checked_device(device), team=team,
    )  # fmt: skip
    runs = [ValueTraining(config, s, steps, episodes, threads, log) for s in seed or [0]]
    from mast.running import run_rows

    rows, complete = run_rows(runs, store, workers)
    if out is not None:
        _write_json(out, rows)
    _show("print_training", rows, as_json)
    if not complete:
        raise typer.Exit(1)


def _write_json(path: Path, value: Any) -> None:
    from common import atomic_write
    from runs import json_text

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(json_text(value) + "\n", encoding="utf-8")
    tell(f"wrote {path}")


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
