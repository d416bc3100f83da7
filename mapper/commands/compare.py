"""``mapper compare``: searchers under equal budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands import completion
from mapper.commands.options import (
    DEFAULT_STORE,
    MOST_SAMPLES,
    MOST_SEEDS,
    AcceleratorOption,
    CostModelOption,
    DataflowOption,
    ModelOptions,
    OptionError,
    Sets,
    SpaceOption,
    StoreOption,
    TargetOption,
    WorkersOption,
    checked_target,
    cores,
    cost_model_with,
    space_of,
)
from mapper.output import check_writable
from marl_runs import go_on_with, tell

if TYPE_CHECKING:
    from marl_runs import RunSummary


def compare(
    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            "-l",
            help="Layers or whole networks, with commas: mobilenetv2.2,vgg16.1.",
            autocompletion=completion.layer_lists,
        ),
    ],
    objectives: Annotated[
        str,
        typer.Option(
            "--objectives",
            "-o",
            help="latency, energy, edp, area ... with commas.",
            autocompletion=completion.objective_lists,
        ),
    ] = "latency,edp",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            help="Searchers, with commas; `all` is every installed one but exhaustive. Options of "
            "one: ga:population=50:offspring=50. module:Class is a searcher of your own.",
            autocompletion=completion.method_lists,
        ),
    ] = "all",
    accelerator: AcceleratorOption = "edge",
    sets: Sets = None,
    cost_model: CostModelOption = "exact",
    cost_model_option: ModelOptions = None,
    budget: Annotated[
        int, typer.Option(min=1, max=MOST_SAMPLES, help="Samples of each search.")
    ] = 20_000,
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Searches of each method on each layer.")
    ] = 5,
    space: SpaceOption = None,
    dataflow: DataflowOption = None,
    store: StoreOption = DEFAULT_STORE,
    workers: WorkersOption = 0,
    ray_address: Annotated[
        str | None,
        typer.Option(help="Search on a Ray cluster instead: auto, HOST:PORT or local."),
    ] = None,
    target: TargetOption = 1.05,
    timeout: Annotated[
        float,
        typer.Option(
            min=0,
            help="Seconds for the proof of each optimum that the library has not; its gaps are to "
            "the physical bound otherwise. 0 proves nothing.",
        ),
    ] = 10.0,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Only show what the store holds already.")
    ] = False,
    plots: Annotated[
        Path | None, typer.Option(help="Draw the plots into this folder, too.")
    ] = None,
    format: Annotated[
        str, typer.Option("--format", help="table, markdown, csv, json or latex.")
    ] = "table",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Of --format table: all tables, not the gaps alone.")
    ] = False,
) -> None:
    """Compare searchers on the same problems, with the same samples and seeds.

    The same command resumes: finished searches are kept in the store. Exit code 1 says that some
    cells of the table are missing.
    """
    from mapper.compare import FORMATS, make_plan
    from mapper.compare.formats import as_terminal
    from mapper.compare.gap_proofs import prove_gaps
    from mapper.compare.run import run_plan, summarise
    from marl_common import suggest
    from marl_runs import Store, new_figure

    if format not in FORMATS:
        raise OptionError(
            f"--format: got {format!r}, expected {', '.join(FORMATS)}."
            f"{suggest(format, list(FORMATS))}"
        )
    checked_target(target)
    if plots is not None:
        new_figure(1, 1)  # says before the searches that matplotlib is missing
        check_writable(plots, "--plots")
    plan = make_plan(
        _listed(layers),
        _listed(objectives),
        _listed(methods),
        accelerator=accelerator,
        sets=sets or (),
        cost_model=cost_model_with(cost_model, cost_model_option),
        budget=budget,
        seeds=seeds,
        space=space_of(space, dataflow, cost_model),
    )
    with Store.open(store, create=not no_run) as opened:
        if not no_run:
            outcome = run_plan(plan, opened, workers=workers or cores(), ray_address=ray_address)
            _tell(outcome)
            if timeout > 0 and not outcome.stopped:
                prove_gaps(plan, opened, timeout, workers=workers or cores())
        summaries = summarise(plan, opened, target)
    every = verbose and format == "table"
    print(as_terminal(summaries, every=True) if every else FORMATS[format](summaries))
    if plots is not None:
        from mapper.compare.figures import write_figures

        for path in [path for summary in summaries for path in write_figures(summary, plots)]:
            tell(f"wrote {path}")
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
