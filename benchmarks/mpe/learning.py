"""What sharing a batch and drawing neighbors cost in learning, on a schedule long enough to tell.

    python -m benchmarks mpe.learning
    python -m benchmarks mpe.learning --cases neighbor --seeds 7

simple_spread, three agents, MADDPG with the papers' values, 15,000 episodes, ten seeds fixed
beforehand; means, differences and p of the cases stand in a file beside that of the runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.stats import ttest_1samp

from benchmarks.frame import Row, Table, grouped, rounded, write
from marl_runs import mean_interval, print_rows
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer

# name -> law, layout, update mode
CASES = {
    "uniform": ("uniform", "joint", "batched"),
    "shared-batched": ("shared", "joint", "batched"),
    "shared-folded": ("shared", "state", "folded"),
    "neighbor": ("neighbor", "joint", "batched"),
}


def config_of(case: str, episodes: int) -> TrainConfig:
    """The papers' settings with the case's law, layout and mode."""
    law, layout, mode = CASES[case]
    return TrainConfig(
        world="simple_spread", law=law, layout=layout, capacity=min(10**6, 25 * episodes),
        learner=LearnerConfig(mode=mode),
    )  # fmt: skip


def train(given: Any, case: str, seed: int) -> tuple[float, ...]:
    """Train once; the mean return of an agent over the last episodes."""
    torch.set_num_threads(1)
    start = time.process_time()
    history = Trainer(config_of(case, given.episodes), seed).run(given.episodes)
    spent = time.process_time() - start
    return given.episodes, given.last, history.mean(given.last), spent


def report(rows: list[Row]) -> Iterator[Row]:
    """Each case's mean with its interval, and its difference to uniform, seed by seed.

    ``p`` is of a t test on the differences: how often chance alone would make them as large.
    """
    by_case = {
        case: {row["seed"]: float(row["return_per_agent"]) for row in own}
        for case, own in grouped(rows, "case").items()
    }
    for case, values in by_case.items():
        mean, half = map(float, mean_interval(np.array(list(values.values()))))
        line = {
            "case": case, "seeds": len(values), "mean": mean, "+-95%": half,
            "minus uniform": None, "its +-95%": None, "seeds below": None, "p": None,
        }  # fmt: skip
        both = sorted(set(values) & set(by_case.get("uniform", {})))
        if case != "uniform" and len(both) > 1:
            differences = np.array([values[s] - by_case["uniform"][s] for s in both])
            line["minus uniform"], line["its +-95%"] = map(float, mean_interval(differences))
            line["seeds below"] = int((differences < 0).sum())
            line["p"] = float(ttest_1samp(differences, 0.0).pvalue)
        yield line


def told(rows: list[Row], given: Any) -> None:
    """Print a row a case, and keep them beside the file of runs."""
    found = list(report(rows))
    print_rows("Return of an agent, last episodes of training", found)
    if given.out is not None:
        path = given.out.with_name(f"{given.out.stem}-cases.csv")
        write(path, found[0], (rounded(row, 5) for row in found))


TABLE = Table(
    __doc__,
    ("case", "seed", "episodes", "mean_over", "return_per_agent", "processor_s"),
    lambda given: ((case, seed) for seed, case in product(given.seeds, given.cases)),
    train,
    "mpe-learning.csv",
    {
        "cases": (list(CASES), None, CASES),
        "seeds": list(range(10)),
        "episodes": 15_000,
        "last": (1_000, "episodes the mean is over"),
    },
    {"episodes": 20, "last": 10},
    told,
)
