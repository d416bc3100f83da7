"""A whole QMIX update, dense against compiled: sampling, targets, mixer, gradients, clip and Adam.

    python -m benchmarks mast.update

One thread, processor time; all arms take turns in one process, so that another's load cancels. In
a turn an arm does several updates: a run has one learner, and finds its networks in the cache,
where an arm that does a single one finds those of the other arms (`--in-a-row 1`). The median over
turns of the ratio of neighbours is printed, and each arm's fastest turn, for one update. The sparse
networks have gone through a topology step.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch

from benchmarks.frame import Table, in_turns
from marl_runs import make_generator
from mast.algorithms import make_value_learner
from mast.config import MastConfig
from mast.episodes import Episode, EpisodeStore, TaskShape
from mast.scaling import RewardScale
from mast.tasks import TeamWorlds, find_task
from mpe_marl import Recent

ARMS = (
    ("dense+", 0.0, "masked"), ("mast", 0.9, "masked"), ("mast", 0.9, "compiled"),
    ("block4+", 0.9, "compiled"), ("mast", 0.95, "compiled"),
)  # fmt: skip


def filled_store(shape: TaskShape, batch: int) -> EpisodeStore:
    """A store of 500 episodes of noise."""
    store, rng = EpisodeStore(shape, 500, batch, Recent(128, 0.5)), make_generator(0)
    n, t = shape.n_agents, shape.length
    for _ in range(500):
        obs = rng.standard_normal((shape.obs_dim, n, t + 1), dtype=np.float32)
        states = rng.standard_normal((shape.state_dim, t + 1), dtype=np.float32)
        actions = rng.integers(0, shape.n_actions, (n, t))
        store.add(Episode(obs, states, actions, rng.standard_normal(t), None, t, False))
    return store


def measure(given: Any, task: str, hidden: int) -> list[tuple[Any, ...]]:
    """One row an arm."""
    torch.set_num_threads(1)
    shape = TeamWorlds(find_task(task), 1).shape
    learners = []
    for arm, sparsity, backend in ARMS:
        config = MastConfig(task=task, arm=arm, sparsity=sparsity, backend=backend, hidden=hidden)
        learners.append(make_value_learner(config, shape, total=300_000))
    store = filled_store(shape, learners[0].config.batch)
    for learner in learners:
        learner.update(store.sample(), RewardScale(), 200_000, topology=True)
        learner.change_topology(0.3)
        learner.copy_targets()

    def updates(learner: Any) -> None:
        for _ in range(given.in_a_row):
            learner.update(store.sample(), RewardScale(), 200_000)

    works = {place: partial(updates, learner) for place, learner in enumerate(learners)}
    taken = in_turns(works, given.repeats)
    seconds = np.array(list(taken.values())).T / given.in_a_row
    ratios = np.median(seconds[:, :1] / seconds, axis=0)
    return [
        (*arm, *(f"{figure:.6g}" for figure in figures))
        for arm, *figures in zip(
            ARMS,
            1e3 * seconds.min(axis=0),
            1e3 * np.median(seconds, axis=0),
            ratios,
            seconds[:, 0].min() / seconds.min(axis=0),
            strict=True,
        )
    ]


TABLE = Table(
    __doc__,
    (
        *("task", "hidden", "arm", "sparsity", "backend", "update_ms", "median_ms"),
        *("times_faster", "times_faster_at_best"),
    ),
    lambda given: product([given.task], given.hidden),
    measure,
    "mast-update.csv",
    {
        "task": "tag-3",
        "hidden": [64, 128, 256],
        "repeats": (200, "turns of each arm"),
        "in_a_row": (5, "updates of a turn"),
    },
    {"repeats": 2},
)
