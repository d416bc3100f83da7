"""``mapper compare``: searchers under equal budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands import completion
from mapper.commands.options import (
    MOST_SAMPLES,
    MOST_SEEDS,
    TARGET_HELP,
    check_word,
    checked_target,
)
from mapper.commands.problem_options import ModelledChip, SpaceOptions
from mapper.commands.work_options import RayWork
from mapper.results.output import check_writable
from marl_common import option, takes_records
from marl_runs import go_on_with, tell

if TYPE_CHECKING:
    from mapper.compare.summary import Summary
    from marl_runs import RunSummary


@dataclass(frozen=True)
class Contest:
    """What is minimised, and by which searchers.

    Attributes:
        objectives: latency, energy, edp, area ... with commas.
        methods: Searchers, with commas; `all` is every installed one but exhaustive. Options of
            one: ga:population=50:offspring=50. module:Class is a searcher of your own.
    """

    objectives: str = option(
        "latency,edp", "", "--objectives", "-o", autocompletion=completion.objective_lists
    )
    methods: str = option("all", "", "--methods", "-m", autocompletion=completion.method_lists)


@dataclass(frozen=True)
class SearchEffort:
    """How much each searcher does.

    Attributes:
        budget: Samples of each search.
        seeds: Searches of each method on each layer.
    """

    budget: int = option(20_000, low=1, high=MOST_SAMPLES)
    seeds: int = option(5, low=1, high=MOST_SEEDS)


@dataclass(frozen=True)
class Yardsticks:
    """What answers are measured by.

    Attributes:
        timeout: Seconds for the proof of each optimum that the library has not; its gaps are to the
            physical bound otherwise. 0 proves nothing.
    """

    target: float = option(1.05, TARGET_HELP)
    timeout: float = option(10.0, min=0)


@dataclass(frozen=True)
class SearchWork(RayWork):
    """Where searches are kept, and who does them.

    Attributes:
        ray_address: Search on a Ray cluster instead: auto, HOST:PORT or local.
    """

    ray_address: str | None = option(None)


@dataclass(frozen=True)
class TableOptions:
    """What is shown.

    Attributes:
        no_run: Only show what the store holds already.
        plots: Draw the plots into this folder, too.
        format: table, markdown, csv, json or latex.
        verbose: Of --format table: all tables, not the gaps alone.
    """

    no_run: bool = option(False, "", "--no-run")
    plots: Path | None = option(None, kind=Path)
    format: str = option("table")
    verbose: bool = option(False, "", "--verbose")

    def check(self) -> None:
        """Find out before anything is searched whether it can be shown.

        Raises:
            OptionError: There is no such format.
            OutputError: The folder of plots cannot be written to.
            ValueError: What draws them is missing.
        """
        from mapper.compare.formats import FORMATS
        from marl_runs import new_figure

        check_word("--format", self.format, FORMATS)
        if self.plots is not None:
            new_figure(1, 1)  # says before the searches that matplotlib is missing
            check_writable(self.plots, "--plots")

    def show(self, summaries: Sequence[Summary]) -> None:
        """Print tables and draw plots."""
        from mapper.compare.formats import FORMATS, as_terminal

        every = self.verbose and self.format == "table"
        print(as_terminal(summaries, every=True) if every else FORMATS[self.format](summaries))
        if self.plots is not None:
            from mapper.compare.figures import write_figures

            for path in [path for one in summaries for path in write_figures(one, self.plots)]:
                tell(f"wrote {path}")


@takes_records
def compare(
    *,
    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            "-l",
            help="Layers or whole networks, with commas: mobilenetv2.2,vgg16.1.",
            autocompletion=completion.layer_lists,
        ),
    ],
    contest: Contest,
    chip: ModelledChip,
    effort: SearchEffort,
    space: SpaceOptions,
    work: SearchWork,
    by: Yardsticks,
    shown: TableOptions,
) -> None:
    """Compare searchers on the same problems, with the same samples and seeds.

    The same command resumes: finished searches are kept in the store. Exit code 1 says that some
    cells of the table are missing.
    """
    from mapper.compare.gap_proofs import prove_gaps
    from mapper.compare.plan import make_plan
    from mapper.compare.run import run_plan, summarise
    from marl_runs import Store

    checked_target(by.target)
    shown.check()
    plan = make_plan(
        _listed(layers),
        _listed(contest.objectives),
        _listed(contest.methods),
        accelerator=chip.accelerator,
        sets=chip.sets,
        cost_model=chip.model(),
        budget=effort.budget,
        seeds=effort.seeds,
        space=space.options(chip.cost_model),
    )
    with Store.open(work.store, create=not shown.no_run) as opened:
        if not shown.no_run:
            outcome = run_plan(plan, opened, workers=work.processes, ray_address=work.ray_address)
            _tell(outcome)
            if by.timeout > 0 and not outcome.stopped:
                prove_gaps(plan, opened, by.timeout, workers=work.processes)
        summaries = summarise(plan, opened, by.target)
    shown.show(summaries)
    if not all(entry.finished for summary in summaries for entry in summary.entries):
        raise typer.Exit(1)


def _listed(text: str) -> list[str]:
    """The parts between commas; commas inside ``conv:K=4,C=4`` belong to a layer in line."""
    parts: list[str] = []
    for part in text.split(","):
        in_line = parts and "=" in part and ":" not in part and ":" in parts[-1]
        if in_line:
            parts[-1] += "," + part
        elif part.strip():
            parts.append(part.strip())
    return parts


def _tell(outcome: RunSummary) -> None:
    """On standard error: what is missing, and why."""
    for name in outcome.busy:
        tell(f"under way in another process: {name}")
    if outcome.stopped:
        tell(go_on_with())
