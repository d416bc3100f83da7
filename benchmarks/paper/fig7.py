"""Fig. 7: each parameter over the samples, of many agents and of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper import curves
from benchmarks.paper.effort import MANY, ONE, Effort, Output, Step
from benchmarks.paper.searches import Kept, Search, choosing, problem_of
from mapper.clustering import Assignment
from mapper.evolution import Evolution, explain

LAYER = "mobilenetv2.2"
METHODS = {"many agents": MANY, "one agent": ONE}


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """Latency of the paper's layer."""
    return [
        search
        for cost_model in effort.cost_models
        for method in METHODS.values()
        for search in effort.of_seeds(
            layer=LAYER, objective="latency", method=method, cost_model=cost_model
        )
    ]


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a method and seed; the picture is of the first seed."""
    rows: list[dict[str, Any]] = []
    drawn: dict[str, dict[str, Any]] = {}
    for cost_model in effort.cost_models:
        for seed in range(effort.seeds):
            found = {
                label: _evolution(Search(LAYER, "latency", m, cost_model, seed=seed,
                                         budget=effort.budget), kept)
                for label, m in METHODS.items()
            }  # fmt: skip
            single = found["one agent"].best[-1]
            for label, one in found.items():
                told = {"cost model": cost_model, "method": label, "seed": seed}
                told["settled"] = float(np.median(one.settled))
                told["same as one agent"] = float((one.best[-1] == single).mean())
                rows.append(told)
            if not drawn:
                first = found["one agent"]
                drawn = {
                    name: {k: (one.steps, one.typical[:, i]) for k, one in found.items()}
                    for i, name in enumerate(first.names)
                }
    output.table("paper-fig7.csv", rows)
    curves.keep_curves(drawn, output.data / "paper-fig7-curves.csv")
    curves.draw(drawn, output.figures / "fig7.png", curves.CHOICE, 4, curves.SMALL_IN)


def _evolution(search: Search, kept: Kept) -> Evolution:
    problem, found = problem_of(search), kept(search)
    agents = Assignment.single(choosing(problem))
    return explain(problem, found.actions.astype(np.int64), found.values, agents)


STEP = Step("fig7", "Fig. 7: parameters over samples", plan, make)
