"""``python -m benchmarks mpe``: the tables and figures of the papers on multi-agent training.

Every finished profile, round and training run is a line of --runs, so the same command goes on
where it was stopped, by Ctrl-C or otherwise, and on another machine; a training run that was cut
off goes on from --unfinished. --quick runs every step with little, to see that it works, in a
folder of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.frame import asked, refuse
from benchmarks.mpe import papers
from benchmarks.mpe.kept_lines import FULL, QUICK, Places, effort_of, end_of, step_options

RUNS = "mpe-measured.jsonl"
"""What is finished, in the folder of tables."""
STEPS = {
    "sizes": papers.sizes,
    "profiles": papers.profiles,
    "neighbors": papers.neighbors,
    "rewards": papers.rewards,
}
"""What each step makes: see its function."""


def main() -> None:
    """Run the steps."""
    given = asked(
        __doc__,
        **step_options(STEPS),
        unfinished=(Path, "store of training runs under way"),
        device=("cpu", "where networks are in the profiles"),
    )
    effort = effort_of(given, QUICK, FULL)
    home = Path("mpe-quick" if given.quick else "docs")
    data = given.data or home / "data"
    away = Path("mpe-quick" if given.quick else "mpe-runs")
    try:
        places = Places(
            given.runs or data / RUNS,
            given.unfinished or away / "rewards.db",
            data,
            given.figures or home / "figures",
            end_of(given.minutes),
        )
    except (OSError, ValueError) as error:
        refuse(f"argument --runs: {error}")
    for name in given.only or STEPS:
        print(f"{name}: {(STEPS[name].__doc__ or '').splitlines()[0]}", file=sys.stderr, flush=True)
        STEPS[name](effort, places)
