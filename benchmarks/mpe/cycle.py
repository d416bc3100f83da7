"""Whole training cycles (100 steps and one update of all trainers), as Figure 5 has them.

    python -m benchmarks mpe.cycle --agents 3 12 --csv docs/data/mpe-cycle.csv
    python -m benchmarks mpe.cycle --agents 48 --variants baseline folded --rounds 1

What ``mpe-marl compare`` measures, as a file; it and ``mpe-marl profile`` draw Figures 2 to 5. One
thread, its processor time; every phase keeps its fastest of the repeats and rounds. The baseline is
mpe2, lists of tuples, uniform sampling and one network after the other, in PyTorch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.frame import Row, Summary
from marl_runs import print_rows
from mpe_marl.asked import Effort
from mpe_marl.comparing import VARIANTS, against_first, take_turns
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig


def cycles(given: Any) -> list[Row]:
    """A row a size and variant."""
    how = Effort(rows=given.rows, repeats=given.repeats, rounds=given.rounds)
    base = TrainConfig(
        world="simple_tag", capacity=given.rows, learner=LearnerConfig(algorithm="maddpg")
    )
    configs = [replace(base, n_agents=n) for n in given.agents]
    return against_first([one for c in configs for one in take_turns(c, given.variants, how)])


TABLE = Summary(
    __doc__,
    cycles,
    options={
        "agents": [3, 6, 12],
        "variants": list(VARIANTS),
        "rows": 100_000,
        "rounds": 3,
        "repeats": (5, "cycles of a round"),
    },
    quick={"agents": [3], "rows": 2_000, "rounds": 1, "repeats": 1},
    told=lambda rows, _: print_rows("Cycle of 100 steps and one update of all trainers", rows),
    digits=5,
)
