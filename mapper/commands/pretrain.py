"""``mapper pretrain``: train the agents that propose mappings, and write them to a file."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marl_common import LARGEST_SEED, MOST_THREADS, option, takes_records
from marl_runs import Store, ray_session, run_all, writable

if TYPE_CHECKING:
    from mapper.pretrained.training.experiment import Pretraining


@dataclass(frozen=True)
class AgentTraining:
    """What is trained, and for how long.

    Attributes:
        cpu_minutes: Length of a training in processor minutes of the reference machine; it is
            counted in steps, so that a seed gives the same agents anywhere.
        seed: Repeatable.
        cost_model: Whose mappings are learnt.
        begin: Go on from the agents of this file (.safetensors).
    """

    cpu_minutes: float = option(15.0)
    seed: tuple[int, ...] = option((), kind=int, low=0, high=LARGEST_SEED, shown="0")
    cost_model: str = option("exact")
    begin: Path | None = option(None, kind=Path)

    @property
    def seeds(self) -> list[int]:
        """Each seed once."""
        return list(dict.fromkeys(self.seed or [0]))

    def begun(self) -> str | None:
        """The file to go on from, once it is known to hold agents.

        Raises:
            PretrainedError: It holds none.
        """
        from mapper.pretrained.weights import PretrainedError, load

        if self.begin is None:
            return None
        try:
            load(str(self.begin))
        except PretrainedError as error:
            raise PretrainedError(str(error).replace("--pretrained", "--begin", 1)) from None
        return str(self.begin)


@dataclass(frozen=True)
class TrainingWork:
    """Where trainings are kept, and who does them.

    Attributes:
        store: Where trainings are kept and resumed.
        workers: Processes. One training shares its sampling out to them (4 at most are of use),
            which changes none of its agents; of several, so many run at the same time.
        ray_address: Use the workers of a Ray cluster: auto, HOST:PORT or local.
    """

    store: str | None = option(None, shown="OUT.sqlite")
    workers: int = option(1, low=1, high=MOST_THREADS)
    ray_address: str | None = option(None)


@takes_records
def pretrain(
    *,
    out: Annotated[Path, typer.Option("--out", help="File of the agents (.safetensors).")],
    training: AgentTraining,
    work: TrainingWork,
) -> None:
    """Train mapping policies over random layers, chips and objectives.

    Ctrl-C keeps what was learnt; the same command goes on from there. With several seeds the agents
    that did best on held-out problems are written.
    """
    from baselines import require

    require("torch", "pretrain", "rl")
    from mapper.pretrained.weights import PretrainedError

    if out.suffix != ".safetensors":
        raise PretrainedError(f"--out {out}: expected a name ending in .safetensors")
    trainings, workers, ray_address = _trainings(training, work)
    writable(out.absolute().parent)
    with ExitStack() as ends:
        if work.ray_address is not None:  # one connection for all, refused before anything begins
            ends.enter_context(ray_session(work.ray_address, work.workers))
        opened = ends.enter_context(Store.open(work.store or f"{out}.sqlite"))
        summary = run_all(trainings, opened, workers=workers, ray_address=ray_address)
        done = [run for key in summary.keys for run in opened.runs(key=key)[:1]]
    if summary.failed or summary.interrupted:
        raise typer.Exit(1)
    best = min(done, key=lambda run: math.inf if run.best_value is None else run.best_value)
    results = {run.seed: dict(run.result or {}) for run in done}
    _copy(Path(results[best.seed]["agents"]), out)
    for number, result in results.items():
        _print(number, result)
    typer.echo(f"wrote {out} (seed {best.seed})")


def _trainings(
    training: AgentTraining, work: TrainingWork
) -> tuple[list[Pretraining], int, str | None]:
    """A training a seed; how many are done at once, and on which Ray cluster.

    Workers share one training out, or do several trainings.
    """
    from mapper.pretrained.training.experiment import Pretraining, check_trainable
    from mapper.pretrained.training.schedule import schedule_of

    schedule = schedule_of(training.cpu_minutes)
    check_trainable(training.cost_model)
    first, seeds = training.begun(), training.seeds
    here, given = (1, None), (work.workers, work.ray_address)
    within, among = (given, here) if len(seeds) == 1 else (here, given)
    trainings = [
        Pretraining(
            training.cost_model, schedule, seed,
            begin=first, workers=within[0], ray_address=within[1],
        )
        for seed in seeds
    ]  # fmt: skip
    return trainings, *among


def _print(seed: int, result: Mapping[str, Any]) -> None:
    """Print what the agents of a seed do on held-out problems."""
    from mapper.pretrained.training.validation import COUNTS

    counts = " / ".join(map(str, COUNTS))
    ratios = (result["validation"][f"p90_{count}"] for count in COUNTS)
    shown = " / ".join("none feasible" if r is None else f"{r:.3f}" for r in ratios)
    typer.echo(
        f"seed {seed}, {result['cpu_minutes']} CPU min: best of {counts} over the "
        f"best known on held-out random problems, 90th percentile: {shown}"
    )


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
