"""``mapper explain``: how a search's parameters evolved, or why agents propose a mapping."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands.options import OptionError, chip_of, leave_out, picture_file
from mapper.commands.problem_options import LayerObjective, NamedChip
from mapper.commands.work_options import StoreOption
from marl_common import LARGEST_SEED, AsJson, engineering, option, takes_records
from marl_runs import print_json, save_figure, tell

if TYPE_CHECKING:
    from marl_runs import StoredRun


@dataclass(frozen=True)
class BesideRun:
    """A second run.

    Attributes:
        other: A second run of the same layer to show too.
    """

    other: str | None = option(None, "", "--beside")


@dataclass(frozen=True)
class ShownRuns(StoreOption, BesideRun):
    """What is shown of a run, where it is kept.

    Attributes:
        plot: Draw the parameters into this file.
    """

    plot: Path | None = option(None, kind=Path)


@dataclass(frozen=True)
class Proposing:
    """The agents that propose a mapping.

    Attributes:
        pretrained: Of --layer: agents of `mapper pretrain`; auto: those of the package.
        seed: Same seed, same samples.
    """

    pretrained: str = option("auto")
    seed: int = option(0, low=0, high=LARGEST_SEED)


@takes_records
def explain(
    *,
    run: Annotated[
        str | None,
        typer.Argument(help="Number of a run, or how its key begins.", show_default=False),
    ] = None,
    shown: ShownRuns,
    asked: LayerObjective,
    chip: NamedChip,
    by: Proposing,
    as_json: AsJson = False,
) -> None:
    """Show how the parameters of a run's best mapping settled, or why agents propose a mapping.

    Of a run: what each parameter of the best mapping was after so many samples; agents stand side
    by side, a row a parameter, sorted by agent and by when it settled. With --layer instead: the
    decisions of the pre-trained agents' best proposal, with their probabilities and runners-up.
    """
    if (run is None) == (asked.layer is None):
        raise OptionError("expected a run, or --layer L: one of them")
    if run is None:
        leave_out({"--plot": shown.plot, "--beside": shown.other}, "--layer: they are of a run")
        _explain_proposal(asked, chip.accelerator, by, as_json)
    else:
        others = {
            "--objective": asked != LayerObjective(),
            "--accelerator": chip != NamedChip(),
            "--pretrained or --seed": by != Proposing(),
        }
        leave_out(others, f"{run}: a run's parameters are shown as they were searched")
        _explain_runs(run, shown, as_json)


def _explain_runs(run: str, shown: ShownRuns, as_json: bool) -> None:
    """Print how the parameters of one run or two settled, and draw them."""
    from mapper.explaining.evolution import of_run
    from mapper.explaining.evolution import plot as draw
    from mapper.show.evolution_table import print_evolution
    from marl_runs import Store

    if shown.plot is not None:
        picture_file("--plot", shown.plot)
    with Store.open(shown.store, create=False) as opened:
        found = [of_run(opened, text) for text in (run, shown.other) if text is not None]
    _check_beside([stored for stored, _ in found])
    if as_json:
        print_json([{"run": stored.id, "parameters": e.rows()} for stored, e in found])
    else:
        for stored, evolution in found:
            print_evolution(stored.name, evolution)
    if shown.plot is None:
        return
    figure = draw({f"{stored.id} {stored.name}": evolution for stored, evolution in found})
    tell(f"wrote {', '.join(str(path) for path in save_figure(figure, shown.plot))}")


def _explain_proposal(
    asked: LayerObjective, accelerator: str, by: Proposing, as_json: bool
) -> None:
    """Print the decisions of the agents' best proposal.

    Raises:
        OptionError: There are no agents.
    """
    from dataclasses import asdict

    import numpy as np

    import layers
    from maestro_env import Problem
    from mapper.pretrained.cases import doubts_of
    from mapper.pretrained.explanation import best_decisions
    from mapper.pretrained.weights import agents_of
    from mapper.show.decision_table import print_decisions

    layer = layers.parse(asked.layer or "")
    problem = Problem(layer, chip_of(accelerator), asked.objective)
    agents = agents_of(by.pretrained)
    if agents is None:
        raise OptionError(
            f"--pretrained {by.pretrained}: there are no agents; expected a file of "
            "`mapper pretrain`"
        )
    for doubt in doubts_of(agents, problem):
        tell(f"warning: {doubt}")
    mapping, choices = best_decisions(agents, problem, np.random.default_rng(by.seed))
    if not problem.feasible_samples:
        why = problem.why_empty() or "expected a larger chip, or `mapper search`"
        tell(f"error: none of {problem.samples} proposals is feasible: {why}")
        raise typer.Exit(1)
    if as_json:
        print_json({"mapping": mapping.to_dict(), "decisions": [asdict(c) for c in choices]})
        return
    print_decisions(
        f"Best of {problem.samples} proposals for {problem.layer.name}, {asked.objective} on "
        f"{accelerator}",
        choices,
        f"{engineering(problem.best_value, problem.objective.unit, digits=4)}, by the cost model\n",
    )


def _check_beside(runs: list[StoredRun]) -> None:
    """Two runs stand beside each other only where they choose the same parameters.

    Raises:
        OptionError: They search another layer, or another space of mappings.
    """
    problems = [run.spec["problem"] for run in runs]
    layers = [{k: v for k, v in p["layer"].items() if k != "name"} for p in problems]
    if any(layer != layers[0] for layer in layers):
        first, second = (problem["layer_name"] for problem in problems)
        raise OptionError(
            f"--beside {runs[1].id}: searches {second}, run {runs[0].id} searches {first}; "
            "expected a run of the same layer"
        )
    if any(p["space"] != problems[0]["space"] for p in problems):
        raise OptionError(
            f"--beside {runs[1].id}: searches another space of mappings than run {runs[0].id}; "
            "expected a run with the same --space"
        )
