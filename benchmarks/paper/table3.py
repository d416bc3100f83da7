"""Table III: every method on the paper's space, and what is ours beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.effort import MANY, Effort, Output, Step, compared
from benchmarks.paper.searches import Kept, Search
from runs import geometric_mean

PAPERS = {
    "random-walk": "Random Walker",
    "bo": "Bayesian Optimization",
    "ga": "Genetic Algorithm",
    "ppo": "RL (PPO)",
    "gamma": "GAMMA",
    "marl:mode=paper": "MARL (this work), clustered",
    MANY: "MARL (this work), one agent a parameter",
}
"""The paper's rows; its `MARL` does not say which assignment it has."""
OURS = ("random", "ppo-matched", "zero-shot", "marl", "auto:timeout=10.0")
OBJECTIVES = ("latency", "edp")
CAPPED = {"bo": 200}
"""A method whose own work outgrows its samples takes fewer."""


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """Every search of the table."""
    return [
        search
        for cost_model in effort.cost_models
        for method in (*PAPERS, *OURS)
        if method not in effort.skip and not (cost_model == "maestro" and "auto" in method)
        for objective in OBJECTIVES
        for layer in effort.table
        for search in effort.of_seeds(
            layer=layer,
            objective=objective,
            method=method,
            cost_model=cost_model,
            budget=min(effort.budget, CAPPED.get(method, effort.budget)),
        )
    ]


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a cost model, objective and method."""
    found = {search: kept(search) for search in plan(effort)}
    best: dict[Any, float] = {}
    for search, one in found.items():
        best[search.case] = min(best.get(search.case, np.inf), one.best)
    rows = []
    for cost_model in effort.cost_models:
        for objective in OBJECTIVES:
            mine = {
                search: one
                for search, one in found.items()
                if (search.cost_model, search.objective) == (cost_model, objective)
            }
            rows += _rows(mine, best, effort)
    output.table("paper-table3.csv", rows)


def _rows(found: dict[Search, Any], best: dict[Any, float], effort: Effort) -> list[dict[str, Any]]:
    methods = list(dict.fromkeys(search.method for search in found))
    values = {m: {layer: _of(found, m, layer) for layer in effort.table} for m in methods}
    finite = {
        m: [
            layer for layer in effort.table if np.isfinite([r.best for r in values[m][layer]]).all()
        ]
        for m in methods
    }
    pairs = []
    for method in methods:
        both = [layer for layer in finite[MANY] if layer in finite[method]]
        pairs.append(
            tuple(
                [np.array([r.best for r in values[m][layer]]) for layer in both]
                for m in (MANY, method)
            )
        )
    rows = []
    for method, over in zip(methods, compared(pairs), strict=True):
        some = next(search for search in found if search.method == method)
        over_best = {
            layer: float(np.median([r.best for r in values[method][layer]]))
            / best[next(s.case for s in found if s.layer == layer)]
            for layer in effort.table
        }
        arrivals = [
            float(
                np.median(
                    [
                        r.arrival(1.05 * best[next(s.case for s in found if s.layer == layer)])
                        for r in values[method][layer]
                    ]
                )
            )
            for layer in effort.table
        ]
        rows.append(
            {
                "cost model": some.cost_model,
                "objective": some.objective,
                "method": method,
                "the paper's row": PAPERS.get(method, "ours"),
                "seeds": effort.seeds,
                "samples": some.budget,
                "value / best": geometric_mean(list(over_best.values())),
                **{
                    net: geometric_mean([v for n, v in over_best.items() if n.startswith(net)])
                    for net in ("mobilenetv2", "vgg16")
                },
                "layers with a mapping": len(finite[method]),
                "within 5 %": int(np.isfinite(arrivals).sum()),
                "samples to 5 %": float(np.median(arrivals)),
                "one agent a parameter / method": over["ratio"],
                **{name: over[name] for name in ("from", "to", "p (Holm)", "verdict")},
                "CPU s": float(
                    np.mean([r.seconds for runs in values[method].values() for r in runs])
                ),
            }
        )
    return rows


def _of(found: dict[Search, Any], method: str, layer: str) -> list[Any]:
    return [one for s, one in found.items() if (s.method, s.layer) == (method, layer)]


STEP = Step("table3", "Table III: methods under equal samples", plan, make)
