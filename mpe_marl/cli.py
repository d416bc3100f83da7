"""The command line: ``mpe-marl train|evaluate|watch|export|profile|compare|plot``.

Options of settings are written where the settings are (`mpe_marl.train_config`, `mpe_marl.asked`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marl_common import (
    LARGEST_SEED,
    MOST_THREADS,
    AsJson,
    CommandGroup,
    make_app,
    takes_records,
)
from marl_runs import (
    RunName,
    SeedOptions,
    leave_unless,
    print_result,
    tell,
    tell_written,
    writable,
)
from mpe_marl import show
from mpe_marl.asked import MeasuredAsked, ProfiledAsked, TrainingAsked, TrainingOptions
from mpe_marl.train_config import MOST_ROWS

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


@app.command()
@takes_records
def train(
    asked: TrainingAsked, seeds: SeedOptions, running: TrainingOptions, as_json: AsJson = False
) -> None:
    """Train and keep the run in the store; the same command continues where it was stopped."""
    from marl_runs import usable_device
    from mpe_marl.usual import told
    from mpe_marl.worlds.imported import imported

    config = asked.config()
    running.check()
    if config.spec is None:
        imported(config.world)
    usable_device(config.learner.device)
    tell(told(config, asked.preset))
    stored, complete = running.done(running.runs(config, seeds.seed))
    print_result([_run_row(run) for run in stored], as_json, show.print_training)
    leave_unless(complete)


def _run_row(run: Any) -> dict[str, Any]:
    result = run.result or {}
    shares = result.get("phase_shares", {})
    return {
        "run": run.id, "name": run.name, "status": str(run.standing),
        "updates": result.get("updates"), "mean reward": result.get("mean_reward"),
        "episodes/s": result.get("episodes_per_s"),
        **{f"{k} %": 100 * v for k, v in shares.items()},
    }  # fmt: skip


StorePath = Annotated[str, typer.Option("--store", help="Where the run is kept.")]
Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Episodes to play.")]
StartSeed = Annotated[
    int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="The same seed, the same starts.")
]


def _policy(run: str, store: str) -> Policy:
    """The policy that a finished run kept."""
    from marl_runs import Store, kept_run
    from mpe_marl.policy import POLICY, Policy

    with Store.open(store, create=False) as opened:
        return Policy.load(opened.folder(kept_run(opened, run, ["mpe"]).key) / POLICY)


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

    played = play(_policy(run, store), episodes, seed, explore=not greedy)
    print_result(played.rows(), as_json, show.print_evaluation)


@app.command()
def watch(
    run: RunName,
    gif: Annotated[Path, typer.Option(help="File to write.")],
    episodes: Annotated[int, typer.Option(min=1, max=100, help="Episodes to play.")] = 3,
    seed: StartSeed = 0,
    store: StorePath = "mpe-runs.db",
) -> None:
    """Play a finished run's policy and draw agents, landmarks and trails into a GIF."""
    from mpe_marl.evaluating import watch as play
    from mpe_marl.worlds.drawing import write_gif

    writable(gif.absolute().parent)
    write_gif(play(_policy(run, store), episodes, seed), gif)
    tell_written([gif])


@app.command()
def export(
    run: RunName,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "policy.safetensors"
    ),
    store: StorePath = "mpe-runs.db",
) -> None:
    """Write a finished run's policy as a safetensors file, which needs no PyTorch."""
    writable(out.absolute().parent)
    _policy(run, store).save(out)
    tell_written([out])


Rows = Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Transitions in the store.")]
Repeats = Annotated[
    int, typer.Option(min=1, max=10**6, help="Cycles; each phase keeps its fastest.")
]
Threads = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.")]
Figures = Annotated[Path | None, typer.Option(help="Folder for pictures; else none.")]


@app.command(name="profile")
@takes_records
def profile_command(
    asked: ProfiledAsked,
    rows: Rows = 20_000,
    repeats: Repeats = 5,
    threads: Threads = 1,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Measure where the time of 100 steps and one update goes; by default the papers' baseline."""
    import torch

    from mpe_marl.figures import draw_profiles
    from mpe_marl.profiling import profile

    if figures is not None:
        writable(figures)
    torch.set_num_threads(threads)
    configs = asked.configs(rows)
    found = [profile(config, rows=rows, repeats=repeats).plain() for config in configs]
    if figures is not None:
        tell_written(draw_profiles(found, figures))
    print_result(found, as_json, show.print_profiles)


@app.command()
@takes_records
def compare(
    asked: MeasuredAsked,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable; the first is compared with.", show_default="all of them"),
    ] = None,
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
    from mpe_marl import comparing
    from mpe_marl.figures import draw_comparison

    if figures is not None:
        writable(figures)
    names = variant or list(comparing.VARIANTS)
    how = comparing.Effort(rows, repeats, rounds, threads)
    configs = asked.configs(rows)
    profiles = [row for one in configs for row in comparing.take_turns(one, names, how)]
    found = comparing.against_first(profiles)
    if figures is not None:
        tell_written(draw_comparison(found, figures))
    print_result(found, as_json, show.print_comparison)


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
        runs = figures.stored_rewards(source)
        for line in figures.left_out(runs):
            tell(line)
        tell_written(figures.draw_rewards(figures.learning_curves(runs), out / "figure6.png"))
        return
    kind, rows = saved.read(source)
    draw = figures.draw_profiles if kind == "profiles" else figures.draw_comparison
    tell_written(draw(rows, out))


def main(arguments: list[str] | None = None) -> None:
    """Run ``mpe-marl`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mpe-marl``; the process's own by default. ``--debug`` among
            them shows the traceback of an error.
    """
    app(arguments, prog_name="mpe-marl")
