"""Speed of environments and searches on chips of any depth, beside the kernel's own.

On each chip and layer: nests of random mappings of the default space counted as one array of
records, the batched model, the vector environment, all on one thread, and a search by `ga`. Figures
are the best of several runs, by processor time, in turn, so that a busy machine slows all alike:

    python -m benchmarks chain_speed --out chain_speed.csv
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np

import baselines
import layers
from benchmarks.chain_searchers import write
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
COLUMNS = ("chip", "memories", "layer", "kernel", "model", "environment", "share", "ga_seconds")


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

    def kernel() -> None:
        count_nests(WORK.records, nests, counts, status, 0, worlds)

    def batched() -> None:
        costs = model.evaluate_batch(layer, chip, batch)
        assert len(costs.energy_nj) == len(costs.latency_cycles)

    def stepped() -> None:
        env.step(actions)

    works: dict[str, Callable[[], None]] = {
        "kernel": kernel, "model": batched, "environment": stepped,
    }  # fmt: skip
    best = dict.fromkeys(works, float("inf"))
    for _ in range(runs):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return {name: worlds / seconds for name, seconds in best.items()}


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--samples", type=int, default=20_000, help="of a search by ga; 0: none")
    parser.add_argument("--chips", nargs="+", default=list(CHIPS), choices=CHIPS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for name in args.chips:
        for text in LAYERS:
            chip, layer = CHAINS[name], layers.get(text)
            found = rates(layer, chip, args.worlds, args.runs)
            share = found["environment"] / found["kernel"]
            row = {"chip": name, "memories": len(chip.memories), "layer": text, **found}
            seconds = float("nan")
            if args.samples:
                seconds = min(searched(layer, chip, args.samples) for _ in range(SEARCHES))
            rows.append(row | {"share": share, "ga_seconds": seconds})
            print(
                f"{name:12} {text:14} kernel {found['kernel']:9,.0f}/s  model "
                f"{found['model']:9,.0f}/s  environment {found['environment']:9,.0f}/s "
                f"({share:.0%})  ga {seconds:.2f} s",
                flush=True,
            )
    if args.out is not None:
        write(args.out, COLUMNS, rows)


if __name__ == "__main__":
    main()
