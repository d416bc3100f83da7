"""The command line: ``mpe-marl train|evaluate|watch|export|profile|compare|plot``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marl_common import LARGEST_SEED, MOST_THREADS, CommandGroup, make_app
from marl_runs import print_json, tell
from mpe_marl.errors import MpeError
from mpe_marl.show import (
    print_comparison,
    print_evaluation,
    print_profiles,
    print_training,
)

if TYPE_CHECKING:
    from mpe_marl.policy import Policy


class MpeGroup(CommandGroup):
    """The commands of ``mpe-marl``."""

    packages = ("marl_common", "marl_runs", "mpe_marl")
    extra = "mpe"


app = make_app(
    MpeGroup,
    "mpe-marl",
    "Multi-agent training on particle worlds: run it, and see where the time goes.",
)


World = Annotated[
    str,
    typer.Option(
        "--world", "-w",
        help="simple_tag, simple_spread (any number of agents), simple_adversary, simple_push, "
        "simple_speaker_listener, simple_reference, simple_world_comm, or module:function.",
    ),
]  # fmt: skip
MOST_ROWS = 10**9
MOST_AGENTS = 1000
"""A transition grows with the square of the agents: with more, a single one takes megabytes."""

Agents = Annotated[
    int | None,
    typer.Option(
        "--agents", "-n", min=1, max=MOST_AGENTS, help="Agents that learn.",
        show_default="3, or as many as the world has",
    ),
]  # fmt: skip
Algorithm = Annotated[str, typer.Option("--algorithm", "-a", help="maddpg, masac, matd3 or iddpg.")]
MODE_HELP = "Update mode: loop, batched, shared or folded."
LAYOUT_HELP = "Replay: lists, arrays, joint or state."
LAW_HELP = (
    "uniform, recent, neighbor, neighbor-drop, neighbor-clip, runs, prioritised; shared, "
    "shared-neighbor, ... for one batch of all trainers."
)
BATCH_HELP = "Transitions in a mini-batch."
_OR_PPO = "{}; ippo, mappo: {}"
_QUICK = "simple_tag, simple_spread: {}; else, and beside other such options: {}"
Mode = Annotated[str, typer.Option(help=MODE_HELP)]
LayoutOption = Annotated[str, typer.Option(help=LAYOUT_HELP)]
LawOption = Annotated[str, typer.Option(help=LAW_HELP)]
ReplayBatch = Annotated[int, typer.Option(min=1, max=MOST_ROWS, help=BATCH_HELP)]
Continuous = Annotated[bool, typer.Option("--continuous", help="Continuous actions.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.")]
Threads = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]


@app.command()
def train(
    world: World = "simple_tag",
    agents: Agents = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm", "--algo", "-a", help="maddpg, masac, matd3, iddpg, ippo or mappo."
        ),
    ] = "maddpg",
    preset: Annotated[
        str,
        typer.Option(
            help="What the options that are left out stand for: fast (what is quickest here), or "
            "paper (uniform batches from lists, one network after the other, mpe2's worlds)."
        ),
    ] = "fast",
    mode: Annotated[
        str | None, typer.Option(help=MODE_HELP, show_default=_QUICK.format("folded", "batched"))
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help=LAYOUT_HELP, show_default=_QUICK.format("state", "joint"))
    ] = None,
    law: Annotated[
        str | None, typer.Option(help=LAW_HELP, show_default=_QUICK.format("shared", "uniform"))
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_ROWS, help=BATCH_HELP, show_default=_OR_PPO.format("1024", "800")
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, max=10**12)] = 60_000,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Repeatable.", show_default="0"),
    ] = None,
    worlds: Annotated[
        int | None,
        typer.Option(
            min=1, max=10**6, help="Worlds side by side.", show_default=_OR_PPO.format("1", "32")
        ),
    ] = None,
    update_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_ROWS,
            help="Samples between updates.",
            show_default=_OR_PPO.format("100", "3200"),
        ),
    ] = None,
    warmup: Annotated[
        int | None, typer.Option(min=1, help="Samples first.", show_default="25 batches")
    ] = None,
    capacity: Annotated[
        int, typer.Option(min=1, max=MOST_ROWS, help="Transitions kept.")
    ] = 1_000_000,
    lr: Annotated[
        float | None,
        typer.Option(help="Adam's step size.", show_default=_OR_PPO.format("0.01", "0.001")),
    ] = None,
    continuous: Continuous = False,
    engine: Annotated[
        str | None, typer.Option(help="compiled, or mpe2.", show_default="as the preset has it")
    ] = None,
    device: Device = "cpu",
    threads: Threads = 1,
    store: Annotated[str, typer.Option(help="Runs are kept here.")] = "mpe-runs.db",
    workers: Annotated[
        int, typer.Option(min=1, max=MOST_THREADS, help="Runs at the same time.")
    ] = 1,
    replay_dir: Annotated[
        Path | None, typer.Option(help="Folder for replay that does not fit in memory.")
    ] = None,
    neighbors: Annotated[
        int, typer.Option(min=1, max=10_000, help="Neighbours on each side, of such laws.")
    ] = 3,
    share_parameters: Annotated[
        bool, typer.Option("--share-parameters", help="One actor and critic for all agents.")
    ] = False,
    log: Annotated[
        str | None, typer.Option(help="tensorboard:FOLDER or mlflow:FOLDER: metrics while it runs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train and keep the run in the store; the same command continues where it was stopped."""
    from marl_runs import Store, check_board, run_all, usable_device
    from mpe_marl.experiment import Training
    from mpe_marl.usual import told, usual_config
    from mpe_marl.worlds.imported import imported

    config = usual_config(
        {
            "world": world, "n_agents": agents, "continuous": continuous, "engine": engine,
            "n_worlds": worlds, "layout": layout, "law": law, "capacity": capacity,
            "batch": batch, "update_every": update_every, "warmup": warmup,
            "neighbors": neighbors,
        },
        {
            "algorithm": algorithm, "mode": mode, "lr": lr, "device": device,
            "share_parameters": share_parameters,
        },
        preset,
    )  # fmt: skip
    if log is not None:
        check_board(log)
    if ":" in world:
        imported(world)
    usable_device(device)
    tell(told(config, preset))
    directory = None if replay_dir is None else str(replay_dir)
    runs = [
        Training(config, s, episodes, min(100, max(1, episodes // 20)), directory, threads, log)
        for s in seed or [0]
    ]
    with Store.open(store) as opened:
        summary = run_all(runs, opened, workers=workers)
        rows = [_run_row(r) for key in summary.keys for r in opened.runs(key=key)[:1]]
    _show(print_training, rows, as_json)
    if summary.failed or summary.interrupted:
        raise typer.Exit(1)


def _run_row(run: Any) -> dict[str, Any]:
    result = run.result or {}
    shares = result.get("phase_shares", {})
    return {
        "run": run.id, "name": run.name, "status": str(run.standing),
        "updates": result.get("updates"), "mean reward": result.get("mean_reward"),
        "episodes/s": result.get("episodes_per_s"),
        **{f"{k} %": 100 * v for k, v in shares.items()},
    }  # fmt: skip


RunName = Annotated[str, typer.Argument(help="Number of a finished run, or how its key begins.")]
StorePath = Annotated[str, typer.Option("--store", help="Where the run is kept.")]
Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Episodes to play.")]
StartSeed = Annotated[
    int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="The same seed, the same starts.")
]


def _policy(run: str, store: str) -> Policy:
    """The policy that a finished run kept."""
    from marl_runs import RunStatus, Store
    from mpe_marl.policy import POLICY, Policy

    with Store.open(store, create=False) as opened:
        found = opened.run(run)
        if found.kind != "mpe" or found.status is not RunStatus.FINISHED:
            raise MpeError(
                f"run {run!r} is a {found.kind} run, {found.standing}; expected a finished run of "
                "`mpe-marl train`. The same command continues it."
            )
        return Policy.load(opened.folder(found.key) / POLICY)


@app.command()
def evaluate(
    run: RunName,
    episodes: Episodes = 1000,
    seed: StartSeed = 0,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Likeliest moves instead of sampled ones.")
    ] = False,
    store: StorePath = "mpe-runs.db",
    as_json: AsJson = False,
) -> None:
    """Play a finished run's policy: mean return of each team, and its 95 % interval."""
    from mpe_marl.evaluating import evaluate as play

    rows = play(_policy(run, store), episodes, seed, explore=not greedy).rows()
    _show(print_evaluation, rows, as_json)


@app.command()
def watch(
    run: RunName,
    gif: Annotated[Path, typer.Option(help="File to write.")],
    episodes: Annotated[int, typer.Option(min=1, max=100, help="Episodes to play.")] = 3,
    seed: StartSeed = 0,
    store: StorePath = "mpe-runs.db",
) -> None:
    """Play a finished run's policy and draw agents, landmarks and trails into a GIF."""
    from marl_runs import writable
    from mpe_marl.evaluating import watch as play
    from mpe_marl.worlds.drawing import write_gif

    writable(gif.absolute().parent)
    write_gif(play(_policy(run, store), episodes, seed), gif)
    _report([gif])


@app.command()
def export(
    run: RunName,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "policy.safetensors"
    ),
    store: StorePath = "mpe-runs.db",
) -> None:
    """Write a finished run's policy as a safetensors file, which needs no PyTorch."""
    from marl_runs import writable

    writable(out.absolute().parent)
    _policy(run, store).save(out)
    _report([out])


def _sizes(agents: list[int] | None) -> list[int]:
    sizes = agents or [3, 6, 12]
    if not 1 <= min(sizes) <= max(sizes) <= MOST_AGENTS:
        raise MpeError(f"--agents: got {sizes}, expected numbers from 1 to {MOST_AGENTS}.")
    return sizes


Sizes = Annotated[
    list[int] | None, typer.Option("--agents", "-n", help="Repeatable.", show_default="3 6 12")
]
Rows = Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Transitions in the store.")]
Repeats = Annotated[
    int, typer.Option(min=1, max=10**6, help="Cycles; each phase keeps its fastest.")
]
Figures = Annotated[Path | None, typer.Option(help="Folder for pictures; else none.")]


@app.command(name="profile")
def profile_command(
    agents: Sizes = None,
    world: World = "simple_tag",
    algorithm: Annotated[
        list[str] | None, typer.Option("--algorithm", "-a", help="Repeatable.")
    ] = None,
    mode: Mode = "loop",
    layout: LayoutOption = "lists",
    law: LawOption = "uniform",
    batch: ReplayBatch = 1024,
    engine: Annotated[str, typer.Option(help="mpe2, or compiled.")] = "mpe2",
    rows: Rows = 20_000,
    repeats: Repeats = 5,
    device: Device = "cpu",
    threads: Threads = 1,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Measure where the time of 100 steps and one update goes; by default the papers' baseline."""
    import torch

    from marl_runs import writable
    from mpe_marl.figures import draw_profiles
    from mpe_marl.learners import LearnerConfig
    from mpe_marl.profiling import profile
    from mpe_marl.train_config import TrainConfig

    if figures is not None:
        writable(figures)
    torch.set_num_threads(threads)
    found = []
    for name in algorithm or ["maddpg"]:
        for n in _sizes(agents):
            config = TrainConfig(
                world=world, n_agents=n, engine=engine, layout=layout, law=law, capacity=rows,
                batch=batch, learner=LearnerConfig(algorithm=name, mode=mode, device=device),
            )  # fmt: skip
            found.append(profile(config, rows=rows, repeats=repeats).plain())
    if figures is not None:
        _report(draw_profiles(found, figures))
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print_profiles(found)


@app.command()
def compare(
    agents: Sizes = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable; the first is compared with.", show_default="all of them"),
    ] = None,
    world: World = "simple_tag",
    algorithm: Algorithm = "maddpg",
    batch: ReplayBatch = 1024,
    rows: Rows = 100_000,
    repeats: Repeats = 5,
    rounds: Annotated[
        int, typer.Option(min=1, max=1000, help="Fresh processes of each variant, in turn.")
    ] = 3,
    threads: Threads = 1,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Measure the papers' baseline, neighbor sampling and ours in one run (Figure 5)."""
    from marl_runs import writable
    from mpe_marl import comparing
    from mpe_marl.figures import draw_comparison
    from mpe_marl.learners import LearnerConfig
    from mpe_marl.train_config import TrainConfig

    if figures is not None:
        writable(figures)
    names = variant or list(comparing.VARIANTS)
    how = comparing.Effort(rows, repeats, rounds, threads)
    profiles: list[dict[str, Any]] = []
    for n in _sizes(agents):
        config = TrainConfig(
            world=world, n_agents=n, capacity=rows, batch=batch,
            learner=LearnerConfig(algorithm=algorithm),
        )  # fmt: skip
        profiles += comparing.take_turns(config, names, how)
    found = comparing.against_first(profiles)
    if figures is not None:
        _report(draw_comparison(found, figures))
    _show(print_comparison, found, as_json)


@app.command()
def plot(
    source: Annotated[
        Path, typer.Argument(help="JSON of `profile --json` or `compare --json`, or a store.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the pictures.")] = Path(),
) -> None:
    """Draw Figures 2-4 from profiles, Figure 5 from a comparison, Figure 6 from a store."""
    from mpe_marl import figures, saved

    if source.is_file() and source.open("rb").read(15) == b"SQLite format 3":
        runs = _curves(source)
        for line in figures.left_out(runs):
            tell(line)
        _report(figures.draw_rewards(figures.learning_curves(runs), out / "figure6.png"))
        return
    kind, rows = saved.read(source)
    draw = figures.draw_profiles if kind == "profiles" else figures.draw_comparison
    _report(draw(rows, out))


def _curves(source: Path) -> dict[str, Any]:
    from marl_runs import Store

    found: dict[str, Any] = {}
    with Store.open(source, create=False) as store:
        for run in store.runs(kind="mpe"):
            if run.name in found:
                tell(f"run {run.id} is drawn instead of an earlier one of its name: {run.name}")
            found[run.name] = store.metrics(run.id, "mean_reward")
    return found


def _report(paths: list[Path]) -> None:
    for path in paths:
        tell(f"wrote {path}")


def _show(table: Callable[[list[dict[str, Any]]], None], rows: Any, as_json: bool) -> None:
    if as_json:
        print_json(rows)
    else:
        table(rows)


def main(arguments: list[str] | None = None) -> None:
    """Run ``mpe-marl`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mpe-marl``; the process's own by default. ``--debug`` among
            them shows the traceback of an error.
    """
    app(arguments, prog_name="mpe-marl")
