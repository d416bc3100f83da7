"""Speed of environments and searches on chips of any depth, beside the kernel's own.

On each chip and layer: nests of random mappings of the default space counted as one array of
records, the batched model, the vector environment, all on one thread, and a search by `ga`. Figures
are the best of several runs, by processor time, in turn, so that a busy machine slows all alike:

    python -m benchmarks chain_speed --out chain_speed.csv
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import baselines
import layers
from benchmarks.frame import Row, Table, in_turns
from cost_models import CHAINS, Chain
from cost_models.chain.batch_costs import ChainCounter
from cost_models.exact import ExactModel
from cost_models.exact.kernel import count_nests
from cost_models.exact.nest_counts import WORK
from cost_models.exact.records import Counts
from layers import Layer
from maestro_env import Problem
from marl_common import IntArray

LAYERS = ("mobilenetv2.2", "resnet18.2", "vgg16.1")
CHIPS = ("nvdla-cacc", "simba", "eyeriss-rs", "tpu-v1-ws", "sm-a100")
SEARCHES = 3


def rates(layer: Layer, chip: Chain, worlds: int, runs: int) -> dict[str, float]:
    """Nests, mappings and steps a second."""
    model = ExactModel(threads=1)
    env = gymnasium.make_vec(
        "MaestroEnv-v0",
        num_envs=worlds,
        vectorization_mode="vector_entry_point",
        layer=layer,
        accelerator=chip,
        cost_model=model,
    )
    env.reset(seed=0)
    problem = Problem(layer, chip, cost_model=model)
    actions = _feasible(problem, worlds)
    batch = problem.space.decode(actions)
    nests = ChainCounter(model, layer, chip, batch).filler.nests(batch)
    counts, status = np.zeros(worlds, Counts), np.zeros(worlds, np.int64)

    def batched() -> None:
        costs = model.evaluate_batch(layer, chip, batch)
        assert len(costs.energy_nj) == len(costs.latency_cycles)

    works: dict[str, Callable[[], object]] = {
        "kernel": lambda: count_nests(WORK.records, nests, counts, status, worlds),
        "model": batched,
        "environment": lambda: env.step(actions),
    }
    return {name: worlds / min(taken) for name, taken in in_turns(works, runs).items()}


def searched(layer: Layer, chip: Chain, samples: int) -> float:
    """Processor time of a search by `ga` [s]."""
    problem = Problem(layer, chip, cost_model=ExactModel(threads=1))
    start = time.process_time()
    baselines.load("ga").search(problem, samples, 0)
    return time.process_time() - start


def _feasible(problem: Problem, count: int) -> IntArray:
    """``(count, P)`` random actions that fit: what does not is counted in no time."""
    rng, kept = np.random.default_rng(0), np.empty((0, len(problem.space.nvec)), np.int64)
    while len(kept) < count:
        drawn = problem.space.sample(count, rng)
        kept = np.concatenate([kept, drawn[problem.look(drawn).feasible]])
    return kept[:count]


def row_of(given: Any, name: str, memories: int, text: str) -> Row:
    """The speeds of a layer on a chip."""
    chip, layer = CHAINS[name], layers.get(text)
    found = rates(layer, chip, given.worlds, given.runs)
    seconds = min(searched(layer, chip, given.samples) for _ in range(SEARCHES))
    return found | {"share": found["environment"] / found["kernel"], "ga_seconds": seconds}


TABLE = Table(
    __doc__,
    ("chip", "memories", "layer", "kernel", "model", "environment", "share", "ga_seconds"),
    lambda given: (
        (name, len(CHAINS[name].memories), text) for name in given.chips for text in LAYERS
    ),
    row_of,
    options={
        "worlds": 1024,
        "runs": 15,
        "samples": (20_000, "of a search by ga"),
        "chips": (list(CHIPS), None, CHIPS),
    },
    quick={"worlds": 64, "runs": 1, "samples": 200},
)
