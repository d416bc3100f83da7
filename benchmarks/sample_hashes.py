"""One hash a search: every sample's action and value, for each searcher, layer and cost model.

    python -m benchmarks sample_hashes > hashes.txt
    python -m benchmarks sample_hashes --exact exact:energy=maestro:area=maestro

Two versions that print the same lines search alike, sample by sample. Torch takes one thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import baselines
from benchmarks.frame import Table
from maestro_env import Problem

LAYERS = ("mobilenetv2.2", "vgg16.4")
COST_MODELS = ("exact", "maestro")
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


def keys(given: Any) -> Iterator[tuple[Any, ...]]:
    """Searches by all methods; torch takes one thread."""
    import torch

    torch.set_num_threads(1)
    for method, layer, model in product(given.methods or comparable(), LAYERS, COST_MODELS):
        yield method, layer, model, SLOW.get(method, given.budget)


def row_of(given: Any, method: str, layer: str, model: str, budget: int) -> dict[str, str]:
    """The hash of a search."""
    chosen = given.exact if model == "exact" else model
    return {"hash": sample_hash(method, layer, chosen, budget, given.seed)}


TABLE = Table(
    __doc__,
    ("method", "layer", "cost_model", "budget", "hash"),
    keys,
    row_of,
    options={
        "methods": ([str], "all but provers and slow ones by default"),
        "seed": 0,
        "budget": 2_000,
        "exact": ("exact", "exact with other options"),
    },
    quick={"budget": 100},
)
