"""``python -m benchmarks paper``: every table and figure of the mapping paper on its own space.

Every finished search is a file of --runs, so the same command goes on where it was stopped, by
Ctrl-C or otherwise. --quick runs every step with few samples, to see that it works; its tables go
to a folder of their own. What a table stands on (seeds, samples) is in its columns.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.paper import (
    curves,
    fig4,
    fig5,
    fig6,
    fig7,
    methods,
    settings,
    table2,
    table3,
    table3_curves,
    transfer,
)
from benchmarks.paper.effort import FULL, QUICK, Effort, Output, Step
from benchmarks.paper.searches import Kept, tell

STEPS: dict[str, Step] = {
    module.STEP.name: module.STEP
    for module in (table2, table3, methods, fig4, fig5, fig6, fig7, settings, transfer)
}


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser("python -m benchmarks paper", description=__doc__)
    made.add_argument("--quick", action="store_true", help="every step with few samples")
    made.add_argument("--only", metavar="STEPS", help=f"with commas, of {', '.join(STEPS)}")
    made.add_argument("--runs", type=Path, help="folder of finished searches")
    made.add_argument("--data", type=Path, help="folder of tables")
    made.add_argument("--figures", type=Path, help="folder of pictures")
    made.add_argument("--workers", type=_positive, default=1, help="processes of one thread each")
    made.add_argument("--seeds", type=_positive, help="instead of five")
    made.add_argument("--budget", type=_positive, help="samples, instead of 20,000")
    made.add_argument("--long", type=_positive, help="samples of the single agent's long search")
    made.add_argument("--cost-models", metavar="NAMES", help="with commas: maestro, exact")
    made.add_argument("--skip", metavar="METHODS", help="methods that are left out, with commas")
    made.add_argument("--redraw", action="store_true", help="only draw the tables' figures again")
    made.add_argument("--list", action="store_true", help="only say what is done and what is not")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}, expected a whole number of at least 1")
    return number


def effort_of(given: argparse.Namespace) -> Effort:
    """How much is run."""
    changed: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("seeds", "budget", "long")
        if getattr(given, name) is not None
    }
    for name in ("cost_models", "skip"):
        if getattr(given, name) is not None:
            changed[name] = tuple(getattr(given, name).split(","))
    return replace(QUICK if given.quick else FULL, **changed)


def main(words: list[str]) -> None:
    """Run the steps; exit code 1 if one is not whole.

    Args:
        words: The words after ``paper``.
    """
    made = parser()
    given = made.parse_args(words)
    names = given.only.split(",") if given.only else list(STEPS)
    for name in names:
        if name not in STEPS:
            made.error(f"argument --only: got {name!r}, expected some of {', '.join(STEPS)}")
    effort = effort_of(given)
    for name in effort.cost_models:
        if name not in FULL.cost_models:
            made.error(f"argument --cost-models: got {name!r}, expected maestro or exact")
    home = Path("paper-quick" if given.quick else "docs")
    kept = Kept(given.runs or Path("paper-quick/runs" if given.quick else "paper-runs"))
    output = Output(given.data or home / "data", given.figures or home / "figures")
    if given.redraw:
        redraw(output)
        return
    broken = [name for name in names if not _step(STEPS[name], effort, kept, output, given)]
    if broken:
        tell(f"not whole: {', '.join(broken)}; the same command goes on")
        sys.exit(1)


def redraw(output: Output) -> None:
    """Draw the figures again from the files that their steps keep, without a search."""
    data, figures = output.data, output.figures
    samples = fig4.BEST_OF_DATASET
    matrix = fig4.read(data / fig4.MATRIX, samples)
    fig4.draw(matrix, fig4.TITLE, figures / "fig4.png")
    for name, columns in (("fig5", 3), ("fig6", 2)):
        lines = curves.read_curves(data / f"paper-{name}-curves.csv")
        curves.draw(lines, figures / f"{name}.png", "mean return", columns)
    lines = curves.read_curves(data / "paper-fig7-curves.csv")
    curves.draw(lines, figures / "fig7.png", curves.CHOICE, 4, curves.SMALL_IN)
    lines = curves.read_curves(data / table3_curves.FILE)
    title = "best EDP so far over the proven optimum, median of seeds"
    curves.draw(lines, figures / "table3-edp.png", title, 4, (3.2, 2.6), table3_curves.YLIM)


def _step(
    step: Step, effort: Effort, kept: Kept, output: Output, given: argparse.Namespace
) -> bool:
    """Whether a step has all its searches, and so its tables."""
    searches = list(step.searches(effort, kept))
    missing = len(kept.missing(searches))
    tell(f"{step.name}: {step.what}: {len(searches)} searches, {missing} to run")
    if given.list:
        return True
    if kept.fill(searches, given.workers, tell):
        return False
    step.make(effort, kept, output)
    return True
