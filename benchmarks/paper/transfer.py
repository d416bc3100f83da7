"""Section VI-E: what a dataset costs, and an assignment of another layer.

Each layer is searched by agents clustered from its own dataset, from each other layer's, from none
(a random partition of the same number), and as one agent a parameter.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper.effort import (
    Effort,
    Output,
    Step,
    finished,
    last_returns,
    least,
    measured,
    over_cases,
)
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import EVERY, Search, choosing, problem_of
from mapper.clustering.assignment import Assignment

SPACE = "paper-10"
METHOD = "marl:mode=paper"
OWN = "its own dataset"
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
    """The agents of a layer, by where they come from; of the datasets that are finished."""
    names = choosing(problem_of(dataset(effort, layer, cost_model)))
    found = {}
    for other in effort.layers:
        search = dataset(effort, other, cost_model)
        groups = kept(search).notes.get("agents") if search in kept else None
        if groups:
            fitted = Assignment(tuple(map(tuple, groups))).fit(names)
            found[OWN if other == layer else f"the dataset of {other}"] = fitted.agents
    if OWN in found:
        found["chance"] = _by_chance(names, len(found[OWN]))
    return found


def _by_chance(names: tuple[str, ...], count: int) -> tuple[tuple[str, ...], ...]:
    rng = np.random.default_rng(0)
    while True:
        owner = rng.integers(0, count, len(names))
        if len(set(owner.tolist())) == count:
            break
    groups = [tuple(n for n, o in zip(names, owner, strict=True) if o == a) for a in range(count)]
    return Assignment(tuple(groups)).agents


def plan(effort: Effort, kept: Kept) -> dict[tuple[str, str], tuple[Any, ...]]:
    """By cost model and layer its dataset, what is searched with assignments, and counted or not.

    The assignments come from the datasets that are finished.
    """
    own, found = f"{METHOD}:dataset={_samples(effort)}", {}
    ways = {"not counted": own, "counted": f"{own}:count_dataset=true", "no dataset": EVERY}
    budget = effort.budget + _samples(effort)
    for cost_model, layer in product(effort.cost_models, effort.layers):
        told = {"layer": layer, "objective": "latency", "cost_model": cost_model, "space": SPACE}
        of_agents = assignments(effort, kept, layer, cost_model).items()
        sources = {n: effort.of_seeds(**told, method=METHOD, agents=some) for n, some in of_agents}
        sources["one agent a parameter"] = effort.of_seeds(**told, method=EVERY)
        counted = {n: effort.of_seeds(**told, method=m, budget=budget) for n, m in ways.items()}
        found[cost_model, layer] = dataset(effort, layer, cost_model), sources, counted
    return found


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a layer and source of its agents, one a way of counting, and over the layers."""
    tables: dict[str, list[Row]] = {"agents from": [], "the dataset's samples": []}
    returns: dict[tuple[str, ...], list[dict[str, np.ndarray]]] = {}
    for (cost_model, layer), (_, *groups) in plan(effort, kept).items():
        found, counted = (finished(kept, some) for some in groups)
        best = least([*found.values(), *counted.values()])
        case = {"cost model": cost_model, "layer": layer}
        for title, runs in zip(tables, (found, counted), strict=True):
            if len(runs) > 1:  # one alone compares nothing
                for name, some in runs.items():
                    row = measured(some, best)
                    del row["arrives at"], row["CPU s"]
                    tables[title].append({**case, title: name, **row})
        if OWN in found:
            returns.setdefault((cost_model,), []).append(_by_kind(found, best))
    for title, name in zip(tables, ("paper-transfer.csv", "paper-dataset.csv"), strict=True):
        if tables[title]:
            output.table(name, tables[title])
    if returns:
        names = ("cost model", "agents from")
        over = over_cases(returns, OWN, names, "return / own dataset's")
        output.table("paper-transfer-layers.csv", over)


def _by_kind(found: dict[str, list[Found]], best: float) -> dict[str, np.ndarray]:
    """Last mean returns by source, those of all other layers together."""
    kinds: dict[str, list[Found]] = {}
    for name, runs in found.items():
        kind = "another layer's dataset" if name.startswith("the dataset of") else name
        kinds.setdefault(kind, []).extend(runs)
    return {kind: last_returns(runs, best) for kind, runs in kinds.items()}


STEP = Step("transfer", "VI-E: the dataset's cost, and assignments of other layers", plan, make)
