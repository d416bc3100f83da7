"""One hash a search: every sample's action and value, for each searcher, layer and cost model.

    python benchmarks/sample_hashes.py > hashes.txt
    python benchmarks/sample_hashes.py --exact exact:energy=maestro:area=maestro

Two versions that print the same lines search alike, sample by sample. Torch takes one thread.
"""

from __future__ import annotations

import argparse
import hashlib

import numpy as np

import baselines
from maestro_env import Problem

LAYERS = ("mobilenetv2.2", "vgg16.4")
COST_MODELS = ("exact", "maestro")
BUDGET = 2_000
SLOW = {"bo": 60, "tpe": 100, "ppo": 600}
"""Searchers whose own work outgrows the samples: fewer of them."""


def sample_hash(method: str, layer: str, cost_model: str, budget: int, seed: int) -> str:
    """The hash of all samples of one search, in the order in which they were asked."""
    digest = hashlib.sha256()

    def record(actions: object, evaluation: object) -> None:
        digest.update(np.ascontiguousarray(actions, dtype=np.int64).tobytes())
        digest.update(np.ascontiguousarray(evaluation.values, dtype=np.float64).tobytes())

    problem = Problem(layer, "edge", "edp", cost_model)
    problem.on_evaluate = record
    baselines.load(method).search(problem, budget, seed)
    return digest.hexdigest()[:16]


def comparable() -> list[str]:
    """Searchers that neither prove an optimum nor take minutes."""
    found = {name: baselines.load(name).capabilities for name in baselines.names()}
    return [n for n, can in found.items() if not (can.proves_optimum or can.on_request)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", help="all but provers and slow ones by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", default="exact", help="exact with other options")
    given = parser.parse_args()
    for method in given.methods or comparable():
        for layer in LAYERS:
            for cost_model in COST_MODELS:
                budget = SLOW.get(method, BUDGET)
                model = given.exact if cost_model == "exact" else cost_model
                found = sample_hash(method, layer, model, budget, given.seed)
                print(f"{method:14} {layer:14} {cost_model:8} {budget:6} {found}", flush=True)


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
