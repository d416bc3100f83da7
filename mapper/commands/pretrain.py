"""``mapper pretrain``: train the agents that propose mappings, and write them to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def pretrain(
    out: Annotated[Path, typer.Option("--out", help="File of the agents (.safetensors).")],
    cpu_minutes: Annotated[
        float,
        typer.Option(
            help="Length of the training in processor minutes of the reference machine; it is "
            "counted in steps, so that a seed gives the same agents anywhere."
        ),
    ] = 15.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    cost_model: Annotated[str, typer.Option(help="Whose mappings are learnt.")] = "exact",
) -> None:
    """Train mapping policies over random layers, chips and objectives.

    The first Ctrl-C keeps what was learnt; the same command goes on from there.
    """
    from baselines.extras import require

    require("torch", "pretrain", "rl")
    import cost_models
    from mapper.pretrained.training.session import Session, schedule_of
    from mapper.pretrained.weights import PretrainedError, load
    from runs import StopFlag, catch_interrupt

    schedule = schedule_of(cpu_minutes)
    if out.suffix != ".safetensors":
        raise PretrainedError(f"--out {out}: expected a name ending in .safetensors")
    stop = StopFlag()

    def say(line: str) -> None:
        typer.echo(line, err=True)

    out.parent.mkdir(parents=True, exist_ok=True)
    with catch_interrupt(stop, lambda: say("stopping; the same command goes on from here")):
        session = Session(cost_models.load(cost_model), schedule, seed, out, say, lambda: bool(stop))
        finished = session.run()
    if not finished:
        say(f"stopped; `mapper pretrain` with the same options goes on from {session.part}")
        raise typer.Exit(1)
    found = load(out).card["validation"]
    typer.echo(
        f"wrote {out}: 90th percentile over the best known on held-out random problems, best of "
        f"1 / 16 / 100: {found['p90_1']:.3f} / {found['p90_16']:.3f} / {found['p90_100']:.3f}"
    )
