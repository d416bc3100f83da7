"""``mapper pretrain``: train the agents that propose mappings, and write them to a file."""

from __future__ import annotations

import math
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from marl_common import LARGEST_SEED, MOST_THREADS


def pretrain(
    out: Annotated[Path, typer.Option("--out", help="File of the agents (.safetensors).")],
    cpu_minutes: Annotated[
        float,
        typer.Option(
            help="Length of a training in processor minutes of the reference machine; it is "
            "counted in steps, so that a seed gives the same agents anywhere."
        ),
    ] = 15.0,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Repeatable.", show_default="0"),
    ] = None,
    cost_model: Annotated[str, typer.Option(help="Whose mappings are learnt.")] = "exact",
    begin: Annotated[
        Path | None, typer.Option(help="Go on from the agents of this file (.safetensors).")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Where trainings are kept and resumed.", show_default="OUT.sqlite"),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Processes. One training shares its sampling out to them (4 at most are of use), "
            "which changes none of its agents; of several, so many run at the same time.",
        ),
    ] = 1,
    ray_address: Annotated[
        str | None, typer.Option(help="Use the workers of a Ray cluster: auto, HOST:PORT or local.")
    ] = None,
) -> None:
    """Train mapping policies over random layers, chips and objectives.

    Ctrl-C keeps what was learnt; the same command goes on from there. With several seeds the agents
    that did best on held-out problems are written.
    """
    from baselines import require

    require("torch", "pretrain", "rl")
    from mapper.pretrained.training.experiment import Pretraining, check_trainable, schedule_of
    from mapper.pretrained.training.validation import COUNTS
    from mapper.pretrained.weights import PretrainedError, load
    from marl_runs import Store, ray_session, run_all, writable

    if out.suffix != ".safetensors":
        raise PretrainedError(f"--out {out}: expected a name ending in .safetensors")
    schedule = schedule_of(cpu_minutes)
    check_trainable(cost_model)
    first = None if begin is None else str(begin)
    try:
        _ = first and load(first)
    except PretrainedError as error:
        raise PretrainedError(str(error).replace("--pretrained", "--begin", 1)) from None
    seeds = list(dict.fromkeys(seed or [0]))
    here = 1, None
    given = workers, ray_address
    within, among = (given, here) if len(seeds) == 1 else (here, given)
    trainings = [
        Pretraining(cost_model, schedule, s, begin=first, workers=within[0], ray_address=within[1])
        for s in seeds
    ]
    writable(out.absolute().parent)
    with ExitStack() as ends:
        if ray_address is not None:  # one connection for all, refused before anything begins
            ends.enter_context(ray_session(ray_address, workers))
        opened = ends.enter_context(Store.open(store or f"{out}.sqlite"))
        summary = run_all(trainings, opened, workers=among[0], ray_address=among[1])
        done = [run for key in summary.keys for run in opened.runs(key=key)[:1]]
    if summary.failed or summary.interrupted:
        raise typer.Exit(1)
    best = min(done, key=lambda run: math.inf if run.best_value is None else run.best_value)
    results = {run.seed: dict(run.result or {}) for run in done}
    _copy(Path(results[best.seed]["agents"]), out)
    counts = " / ".join(map(str, COUNTS))
    for number, result in results.items():
        found = result["validation"]
        ratios = (found[f"p90_{count}"] for count in COUNTS)
        shown = " / ".join("none feasible" if r is None else f"{r:.3f}" for r in ratios)
        typer.echo(
            f"seed {number}, {result['cpu_minutes']} CPU min: best of {counts} over the "
            f"best known on held-out random problems, 90th percentile: {shown}"
        )
    typer.echo(f"wrote {out} (seed {best.seed})")


def _copy(source: Path, out: Path) -> None:
    from mapper.pretrained.weights import PretrainedError
    from marl_common import atomic_write

    if not source.is_file():
        raise PretrainedError(
            f"{source}: the agents of a finished training are gone; remove its run with "
            "`mapper runs rm` and train anew"
        )
    with atomic_write(out) as draft:
        shutil.copyfile(source, draft)
