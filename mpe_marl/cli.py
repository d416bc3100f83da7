"""The command line: ``mpe-marl train|evaluate|watch|export|profile|compare|plot``.

Options of settings are written where the settings are (`mpe_marl.train_config`, `mpe_marl.asked`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marl_common import AsJson, CommandGroup, command_of, make_app, takes_records
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
from mpe_marl.asked import (
    Effort,
    MeasuredAsked,
    OnceEffort,
    Playing,
    ProfiledAsked,
    TrainingAsked,
    TrainingOptions,
)


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
    from mpe_marl.experiment import run_row
    from mpe_marl.usual import told
    from mpe_marl.worlds.imported import imported

    config = asked.config()
    running.check()
    if config.spec is None:
        imported(config.world)
    usable_device(config.learner.device)
    tell(told(config, asked.preset))
    stored, complete = running.done(running.runs(config, seeds.seed))
    print_result(list(map(run_row, stored)), as_json, show.print_training)
    leave_unless(complete)


Episodes = Annotated[int, typer.Option(min=1, max=10**6, help="Episodes to play.")]


@app.command()
@takes_records
def evaluate(
    run: RunName,
    playing: Playing,
    episodes: Episodes = 1000,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Likeliest moves instead of sampled ones.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play a finished run's policy: mean return of each team, and its 95 % interval."""
    from mpe_marl.evaluating import evaluate as play

    played = play(playing.policy(run), episodes, playing.seed, explore=not greedy)
    print_result(played.rows(), as_json, show.print_evaluation)


@app.command()
@takes_records
def watch(
    run: RunName,
    playing: Playing,
    gif: Annotated[Path, typer.Option(help="File to write.")],
    episodes: Annotated[int, typer.Option(min=1, max=100, help="Episodes to play.")] = 3,
) -> None:
    """Play a finished run's policy and draw agents, landmarks and trails into a GIF."""
    from mpe_marl.evaluating import watch as play
    from mpe_marl.worlds.drawing import write_gif

    writable(gif.absolute().parent)
    write_gif(play(playing.policy(run), episodes, playing.seed), gif)
    tell_written([gif])


@app.command()
def export(
    run: RunName,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "policy.safetensors"
    ),
    store: Annotated[str, typer.Option(help="Where the run is kept.")] = "mpe-runs.db",
) -> None:
    """Write a finished run's policy as a safetensors file, which needs no PyTorch."""
    writable(out.absolute().parent)
    Playing(store=store).policy(run).save(out)
    tell_written([out])


@app.command(name="profile")
@takes_records
def profile_command(asked: ProfiledAsked, effort: OnceEffort, as_json: AsJson = False) -> None:
    """Measure where the time of 100 steps and one update goes; by default the papers' baseline."""
    from mpe_marl.comparing import profiled
    from mpe_marl.figures import draw_profiles

    found = [profiled(config, effort) for config in asked.configs(effort.rows)]
    if effort.figures is not None:
        tell_written(draw_profiles(found, effort.figures))
    print_result(found, as_json, show.print_profiles)


@app.command()
@takes_records
def compare(
    asked: MeasuredAsked,
    effort: Effort,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable; the first is compared with.", show_default="all of them"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the papers' baseline, neighbor sampling and ours in one run (Figure 5)."""
    from mpe_marl import comparing
    from mpe_marl.figures import draw_comparison

    names, configs = variant or list(comparing.VARIANTS), asked.configs(effort.rows)
    profiles = [row for one in configs for row in comparing.take_turns(one, names, effort)]
    found = comparing.against_first(profiles)
    if effort.figures is not None:
        tell_written(draw_comparison(found, effort.figures))
    print_result(found, as_json, show.print_comparison)


@app.command()
def plot(
    source: Annotated[
        Path, typer.Argument(help="JSON of `profile --json` or `compare --json`, or a store.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the pictures.")] = Path(),
) -> None:
    """Draw Figures 2-4 from profiles, Figure 5 from a comparison, Figure 6 from a store."""
    from mpe_marl.figures import draw_kept

    tell_written(draw_kept(source, out))


def main(arguments: list[str] | None = None) -> None:
    """Run ``mpe-marl`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mpe-marl``; the process's own by default. ``--debug`` among
            them shows the traceback of an error.
    """
    command_of(app)(arguments, prog_name="mpe-marl")
