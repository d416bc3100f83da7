"""Section VI-E: what a dataset costs, and an assignment of another layer.

Each layer is searched by agents clustered from its own dataset, from each other layer's, from none
(a random partition of the same number), and as one agent a parameter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.effort import (
    MANY,
    Effort,
    Output,
    Step,
    last_return,
    mean_and_error,
)
from benchmarks.paper.fig4 import AGENTS, grown
from benchmarks.paper.searches import Kept, Search, choosing, dataset_of, problem_of
from mapper.clustering import Assignment

SPACE = "paper-10"
METHOD = "marl:mode=paper"
FEWEST = 1_000
"""Samples of a dataset, at least: guarded MAESTRO refuses most of them."""


def _samples(effort: Effort) -> int:
    return max(effort.budget, FEWEST)


def dataset(effort: Effort, layer: str, cost_model: str) -> Search:
    """The dataset of a layer: random samples, as many as a search has."""
    return Search(layer, "latency", "random", cost_model, SPACE, budget=_samples(effort), seed=100)


def assignments(
    effort: Effort, kept: Kept, layer: str, cost_model: str
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The agents of a layer, by where they come from."""
    names = choosing(problem_of(dataset(effort, layer, cost_model)))
    found = {}
    for other in effort.layers:
        search = dataset(effort, other, cost_model)
        data = dataset_of(search, kept(search))
        fitted = grown(data)[1].assign(min(AGENTS, len(data.names))).fit(names)
        found["its own dataset" if other == layer else f"the dataset of {other}"] = fitted.agents
    rng = np.random.default_rng(0)
    count = len(found["its own dataset"])
    while True:
        owner = rng.integers(0, count, len(names))
        if len(set(owner.tolist())) == count:
            break
    groups = [tuple(n for n, o in zip(names, owner, strict=True) if o == a) for a in range(count)]
    found["chance"] = Assignment(tuple(groups)).agents
    return found


def plan(effort: Effort, kept: Kept) -> list[Search]:
    """The datasets first, as the assignments come from them; counted and not."""
    searches: list[Search] = []
    for cost_model in effort.cost_models:
        kept.fill([dataset(effort, one, cost_model) for one in effort.layers], 1, lambda text: None)
        for layer in effort.layers:
            told = _told(layer, cost_model)
            for agents in assignments(effort, kept, layer, cost_model).values():
                searches += effort.of_seeds(**told, method=METHOD, agents=agents)
            searches += effort.of_seeds(**told, method=MANY)
            for method in _counted(effort).values():
                searches += effort.of_seeds(
                    **told, method=method, budget=effort.budget + _samples(effort)
                )
    return searches


def _told(layer: str, cost_model: str) -> dict[str, Any]:
    return {"layer": layer, "objective": "latency", "cost_model": cost_model, "space": SPACE}


def _counted(effort: Effort) -> dict[str, str]:
    own = f"{METHOD}:dataset={_samples(effort)}"
    return {"not counted": own, "counted": f"{own}:count_dataset=true", "no dataset": MANY}


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a layer and source of its agents, and one a way of counting."""
    rows, counted = [], []
    for cost_model in effort.cost_models:
        for layer in effort.layers:
            told = _told(layer, cost_model)
            found = {
                name: [kept(s) for s in effort.of_seeds(**told, method=METHOD, agents=agents)]
                for name, agents in assignments(effort, kept, layer, cost_model).items()
            }
            found["one agent a parameter"] = [kept(s) for s in effort.of_seeds(**told, method=MANY)]
            doubled = {
                name: [
                    kept(s)
                    for s in effort.of_seeds(
                        **told, method=m, budget=effort.budget + _samples(effort)
                    )
                ]
                for name, m in _counted(effort).items()
            }
            both = [*found.values(), *doubled.values()]
            best = min(one.best for runs in both for one in runs)
            rows += _rows(cost_model, layer, found, best, effort, "agents from")
            counted += _rows(cost_model, layer, doubled, best, effort, "the dataset's samples")
    output.table("paper-transfer.csv", rows)
    output.table("paper-dataset.csv", counted)


def _rows(
    cost_model: str, layer: str, found: dict[str, Any], best: float, effort: Effort, title: str
) -> list[dict[str, Any]]:
    rows = []
    for name, runs in found.items():
        mean, error = mean_and_error([last_return(one, best, effort.window) for one in runs])
        rows.append(
            {
                "cost model": cost_model,
                "layer": layer,
                title: name,
                "seeds": effort.seeds,
                "samples": len(runs[0].values),
                "last mean return": mean,
                "+-": error,
                "value / best": float(np.median([one.best for one in runs]) / best),
                "samples to 5 %": float(np.median([one.arrival(1.05 * best) for one in runs])),
            }
        )
    return rows


STEP = Step("transfer", "VI-E: the dataset's cost, and assignments of other layers", plan, make)
