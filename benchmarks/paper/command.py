"""``python -m benchmarks paper``: every table and figure of the mapping paper on its own space.

Every finished search is a line of --runs, so the same command goes on where it was stopped, by
Ctrl-C or otherwise, and on another machine. Seed 0 of all steps comes first, dear searches after
cheap ones; tables are made of what is finished, and their columns say of how many seeds. --quick
runs every step with few samples, to see that it works, in a folder of its own.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.frame import asked, refuse
from benchmarks.mpe.kept_lines import chosen, end_of, step_options
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
    transfer,
)
from benchmarks.paper.effort import FULL, QUICK, Effort, Output, Step
from benchmarks.paper.kept import Kept
from benchmarks.paper.order import expected_seconds, in_order
from benchmarks.paper.searches import Search, tell

RUNS = "paper-searches.jsonl"
"""Finished searches, in the folder of tables."""
STEPS: dict[str, Step] = {
    module.STEP.name: module.STEP
    for module in (table2, table3, fig4, fig5, fig6, fig7, methods, settings, transfer)
}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}, expected a whole number of at least 1")
    return number


def effort_of(given: argparse.Namespace) -> Effort:
    """How much is run."""
    names = ("seeds", "budget", "long", "cost_models", "skip")
    said = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    told = {k: tuple(v.split(",")) if isinstance(v, str) else v for k, v in said.items()}
    return replace(QUICK if given.quick else FULL, **told)


def main() -> None:
    """Run the steps; exit code 1 if one is not whole."""
    given = asked(
        __doc__,
        **step_options(STEPS),
        workers=(_positive, "processes of one thread each, instead of one"),
        seeds=(_positive, "instead of five"),
        budget=(_positive, "samples, instead of 20,000"),
        long=(_positive, "samples of the single agent's long search"),
        cost_models=(str, "with commas: maestro, exact"),
        skip=(str, "methods that are left out, with commas"),
        redraw=(False, "only draw the tables' figures again"),
        list=(False, "only say what is left, and its cost"),
    )
    names = chosen(given.only, STEPS)
    effort = effort_of(given)
    for name in effort.cost_models:
        if name not in FULL.cost_models:
            refuse(f"argument --cost-models: got {name!r}, expected maestro or exact")
    home = Path("paper-quick" if given.quick else "docs")
    output = Output(given.data or home / "data", given.figures or home / "figures")
    if given.redraw:
        redraw(output)
        return
    try:
        kept = Kept(given.runs or home / "data" / RUNS)
    except (OSError, ValueError) as error:
        refuse(f"argument --runs: {error}")
    steps = [STEPS[name] for name in names]
    if given.list:
        _say_what_is_left(steps, effort, kept)
        return
    failed = _fill(steps, effort, kept, given.workers or 1, end_of(given.minutes))
    for step in steps:
        step.make(effort, kept, output)
    left = _say_what_is_left(steps, effort, kept)
    if left:
        tell(f"{left} searches are left ({len(failed)} failed); the same command goes on")
        sys.exit(1)


def _fill(steps: list[Step], effort: Effort, kept: Kept, workers: int, until: float) -> set[Search]:
    """Run what is missing of all steps, until nothing that can be run is; returns what failed.

    Some searches are known only when others are finished: assignments come from datasets.
    """
    failed: set[Search] = set()
    while time.monotonic() < until:
        searches = [one for step in steps for one in step.searches(effort, kept)]
        todo = [one for one in kept.missing(in_order(searches)) if one not in failed]
        if not todo:
            break
        failed |= kept.fill(todo, workers, until)
    return failed


def _say_what_is_left(steps: list[Step], effort: Effort, kept: Kept) -> int:
    """A line a step; returns how many searches are left."""
    every = []
    for step in steps:
        searches = list(dict.fromkeys(step.searches(effort, kept)))
        missing = kept.missing(searches)
        hours = sum(map(expected_seconds, missing)) / 3600.0
        tell(
            f"{step.name}: {step.what}: {len(searches)} searches, {len(missing)} left, "
            f"some {hours:.1f} h of one core"
        )
        every += missing
    return len(set(every))


def redraw(output: Output) -> None:
    """Draw the figures again from the files that their steps keep, without a search."""
    data, figures = output.data, output.figures
    samples = fig4.BEST_OF_DATASET
    matrix = fig4.read(data / fig4.MATRIX, samples)
    fig4.draw(matrix, fig4.TITLE, figures / "fig4.png")
    for name in curves.FIGURES:
        curves.redraw(name, data, figures)
