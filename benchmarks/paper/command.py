"""``python -m benchmarks paper``: every table and figure of the mapping paper on its own space.

Every finished search is a line of --runs, so the same command goes on where it was stopped, by
Ctrl-C or otherwise, and on another machine. Seed 0 of all steps comes first, dear searches after
cheap ones; tables are made of what is finished, and their columns say of how many seeds. --quick
runs every step with few samples, to see that it works, in a folder of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.frame import asked, refuse
from benchmarks.mpe.kept_lines import at_least, effort_of, end_of, step_options
from benchmarks.paper import fig4, fig5, fig6, fig7, methods, settings, table2, table3, transfer
from benchmarks.paper.effort import FULL, QUICK, Effort, Output, Step
from benchmarks.paper.found import Kept
from benchmarks.paper.searches import Search, tell

SECONDS = {
    "ppo": 2.5,
    "ppo-matched": 1.7,
    "bo": 1.6,
    "tpe": 2.2,
    "marl:mode=paper": 0.27,
    "marl": 0.3,
    "zero-shot": 0.09,
}
"""Processor time of a thousand samples on one core of an AMD EPYC [s], roughly."""
USUAL = 0.03
DEAR = 25.0
"""Searches of more processor time than this wait for the others of their seed [s]."""


def expected_seconds(search: Search) -> float:
    """Processor time of a search [s], to a factor of two."""
    if search.seconds:
        return search.seconds
    name = next((n for n in SECONDS if search.method == n or search.method.startswith(f"{n}:")), "")
    wide = 2.0 if "hidden=64" in search.method else 1.0
    return wide * SECONDS.get(name, USUAL) * search.budget / 1000.0


def in_order(searches: Iterable[Search]) -> list[Search]:
    """Seed by seed; of each cheap ones first, and the paper's cost model before `exact`.

    Seeds of datasets (100) are those of seed 0.
    """

    def place(one: Search) -> tuple[int, bool, bool]:
        return one.seed % 100, expected_seconds(one) > DEAR, one.cost_model != "maestro"

    return sorted(searches, key=place)


RUNS = "paper-searches.jsonl"
"""Finished searches, in the folder of tables."""
STEPS: dict[str, Step] = {
    module.STEP.name: module.STEP
    for module in (table2, table3, fig4, fig5, fig6, fig7, methods, settings, transfer)
}


def main() -> None:
    """Run the steps; exit code 1 if one is not whole."""
    given = asked(
        __doc__,
        **step_options(STEPS),
        workers=(at_least(1), "processes of one thread each, instead of one"),
        seeds=(at_least(1), "instead of five"),
        budget=(at_least(1), "samples, instead of 20,000"),
        long=(at_least(1), "samples of the single agent's long search"),
        cost_models=([str], None, FULL.cost_models),
        skip=([str], "methods that are left out"),
        list=(False, "only say what is left, and its cost"),
    )
    effort = effort_of(given, QUICK, FULL)
    home = Path("paper-quick" if given.quick else "docs")
    output = Output(given.data or home / "data", given.figures or home / "figures")
    try:
        kept = Kept(given.runs or home / "data" / RUNS)
    except (OSError, ValueError) as error:
        refuse(f"argument --runs: {error}")
    steps = [STEPS[name] for name in given.only or STEPS]
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
