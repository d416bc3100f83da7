"""The command line: ``mast train|compare|flops|masks|tickets|export|play|plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from common import LARGEST_SEED, MOST_THREADS, CommandGroup, make_app
from runs import print_json, tell


class MastGroup(CommandGroup):
    """The commands of ``mast``."""

    packages = ("common", "runs", "sparse_training", "mpe_marl", "mast")
    extra = "mast"


app = make_app(
    MastGroup,
    "mast",
    "Value-based multi-agent learning on 5-10 % of the weights, and what it saves.",
)


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
    from mast.costs import check_run
    from mast.experiment import ValueTraining
    from mast.settings import checked_device, make_config
    from runs import check_board, writable

    if log is not None:
        check_board(log)
    if out is not None:
        writable(out.absolute().parent)

    config = make_config(
        setting, task=task, algorithm=algo, arm=arm, sparsity=sparsity,
        without=tuple(without or ()), agents=agents, share=not own, hidden=hidden, budget=budget,
        backend=backend, device=checked_device(device), team=team,
    )  # fmt: skip
    check_run(config)
    runs = [ValueTraining(config, s, steps, episodes, threads, log) for s in seed or [0]]
    from mast.running import run_rows

    rows, complete = run_rows(runs, store, workers)
    if out is not None:
        _write_json(out, rows)
    _show("print_training", rows, as_json)
    if not complete:
        raise typer.Exit(1)


@app.command()
def compare(
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="Repeatable.", show_default="tag-3")
    ] = None,
    arms: Annotated[
        str, typer.Option(help="Arms by commas; dense+ is the score of 100.")
    ] = "dense+,tiny+,mast",
    sparsity: Annotated[
        list[float] | None, typer.Option(help="Repeatable.", show_default="0.9")
    ] = None,
    algo: Algorithm = "qmix",
    steps: Steps = 300_000,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Seeds 0, 1, ... of each arm.")] = 5,
    backend: Backend = "compiled",
    setting: Setting = None,
    episodes: Episodes = 1024,
    store: StorePath = "mast-runs.db",
    workers: Workers = 1,
    markdown: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train arms with the same seeds and starts: scores, intervals, who wins, and what it cost."""
    from mast.comparing import markdown_table, random_scores, summary
    from mast.costs import check_run
    from mast.experiment import ValueTraining
    from mast.running import cells_of, run_rows
    from mast.settings import make_config
    from runs import writable

    if markdown is not None:
        writable(markdown.absolute().parent)

    tasks = task or ["tag-3"]
    configs = [
        make_config(setting, task=t, arm=arm, sparsity=s, backend=b, algorithm=algo)
        for t, arm, s, b in cells_of(tasks, arms.split(","), sparsity or [0.9], backend)
    ]
    for config in configs:
        check_run(config)
    random = random_scores(tasks)
    runs = [ValueTraining(c, seed, steps, episodes) for c in configs for seed in range(seeds)]
    rows, complete = run_rows(runs, store, workers)
    if not complete:
        raise typer.Exit(1)
    named = [
        {**row, "task": run.config.task, "arm": run.config.label}
        for row, run in zip(rows, runs, strict=True)
    ]
    found = summary(named, random)
    if markdown is not None:
        _write_text(markdown, markdown_table(found))
    _show("print_comparison", found, as_json)


@app.command()
def flops(
    task: TaskName = "spread-6",
    algo: Algorithm = "qmix",
    arm: ArmName = "mast",
    sparsity: Annotated[
        list[float] | None, typer.Option(help="Repeatable.", show_default="0.9 0.95")
    ] = None,
    steps: Steps = 300_000,
    agents: AgentKind = "mlp",
    own: Own = False,
    hidden: Hidden = 64,
    budget: Budget = "network",
    backend: Backend = "compiled",
    setting: Setting = None,
    as_json: AsJson = False,
) -> None:
    """Count what training and acting cost, topology steps included, beside a dense network."""
    from mast.costs import cost_rows
    from mast.settings import make_config

    configs = [
        make_config(
            setting, task=task, algorithm=algo, arm=arm, sparsity=s, agents=agents, share=not own,
            hidden=hidden, budget=budget, backend=backend,
        )
        for s in sparsity or [0.9, 0.95]
    ]  # fmt: skip
    _show("print_costs", cost_rows(configs, steps), as_json)


RunName = Annotated[str, typer.Argument(help="Number of a finished run, or how its key begins.")]


@app.command()
def masks(run: RunName, store: StorePath = "mast-runs.db", as_json: AsJson = False) -> None:
    """Show a run's masks: density of each agent and layer, degrees, and how they changed."""
    from mast.kept import finished_run, learnt
    from mast.masks import evolution, layer_rows
    from runs import Store

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
    from mast.running import run_rows
    from mast.tickets import ticket_runs
    from runs import Store

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
    store: StorePath = "mast-runs.db",
    as_json: AsJson = False,
) -> None:
    """Write a finished run's agents: kept values and their places, which need no PyTorch."""
    from mast.exporting import SparsePolicy
    from mast.kept import POLICY, finished_run
    from runs import Store

    with Store.open(store, create=False) as opened:
        found = finished_run(opened, run)
        policy = SparsePolicy.load(opened.folder(found.key) / POLICY)
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
    from common import atomic_write

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
    tell(f"wrote {path}")


def _write_json(path: Path, value: Any) -> None:
    from runs import json_text

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
