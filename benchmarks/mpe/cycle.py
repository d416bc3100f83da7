"""Figures 2 to 5: whole training cycles (100 steps and one update of all trainers).

    python -m benchmarks mpe.cycle --agents 3 6 12 --json cycle.json --figures figures
    python -m benchmarks mpe.cycle --agents 3 12 --csv docs/data/mpe-cycle.csv
    python -m benchmarks mpe.cycle --agents 48 --variants baseline folded --rounds 1

What ``mpe-marl compare`` measures, and the profiles it is made of, which Figures 2 to 4 show. One
thread, its processor time; every phase keeps its fastest of the repeats and rounds. The baseline is
mpe2, lists of tuples, uniform sampling and one network after the other, in PyTorch.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.frame import asked
from benchmarks.mpe.tables import write_table
from marl_runs import print_rows
from mpe_marl.asked import Effort
from mpe_marl.comparing import VARIANTS, against_first, take_turns
from mpe_marl.figures import draw_comparison, draw_profiles
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig


def main() -> None:
    given = asked(
        __doc__,
        agents=[3, 6, 12],
        variants=list(VARIANTS),
        world="simple_tag",
        algorithm="maddpg",
        rows=100_000,
        rounds=3,
        repeats=(5, "cycles of a round"),
        figures=Path,
        json=Path,
        csv=(Path, "the comparison as a table"),
    )
    how = Effort(rows=given.rows, repeats=given.repeats, rounds=given.rounds)
    learner = LearnerConfig(algorithm=given.algorithm)
    found = []
    for n in given.agents:
        config = TrainConfig(world=given.world, n_agents=n, capacity=given.rows, learner=learner)
        found += take_turns(config, given.variants, how)
    rows = against_first(found)
    print_rows("Cycle of 100 steps and one update of all trainers", rows)
    base = [p for p in found if p["variant"] == given.variants[0]]
    print_rows(
        f"Phases of {given.variants[0]} [ms]",
        [{"agents": p["n_agents"], **p["phase_ms"]} for p in base],
    )
    if given.figures:
        draw_profiles(base, given.figures)
        draw_comparison(rows, given.figures)
    if given.csv:
        write_table(given.csv, rows)
    if given.json:
        given.json.write_text(json.dumps({"profiles": found, "comparison": rows}, indent=2))
