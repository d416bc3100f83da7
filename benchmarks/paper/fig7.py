"""Fig. 7: each parameter over the samples, of many agents and of one."""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper import curves
from benchmarks.paper.effort import Effort, Output, Step
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import EVERY, EVOLVED, ONE_AGENT, Search

METHODS = {"many agents": EVERY, "one agent": ONE_AGENT}


def plan(effort: Effort, kept: Kept | None = None) -> dict[tuple[str, int], dict[str, Search]]:
    """Latency of the paper's layer, by cost model and seed."""
    return {
        (cost_model, seed): {
            label: Search(EVOLVED, "latency", method, cost_model, budget=effort.budget, seed=seed)
            for label, method in METHODS.items()
        }
        for cost_model, seed in product(effort.cost_models, range(effort.seeds))
    }


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a method and seed; the picture is of the first seed."""
    rows: list[Row] = []
    drawn: dict[str, Row] = {}
    for (cost_model, seed), pair in plan(effort).items():
        if any(search not in kept for search in pair.values()):
            continue
        found = {label: kept(search) for label, search in pair.items()}
        single = np.array(found["one agent"].notes["ends"])
        for label, one in found.items():
            told = {"cost model": cost_model, "method": label, "seed": seed}
            told["settled"] = one.notes["settled"]
            told["same as one agent"] = float((np.array(one.notes["ends"]) == single).mean())
            rows.append(told)
        drawn = drawn or _lines(found)
    if rows:
        output.table("paper-fig7.csv", rows)
        curves.keep("fig7", drawn, output.data, output.figures)


def _lines(found: dict[str, Found]) -> dict[str, Row]:
    typical = {label: np.array(one.notes["typical"]) for label, one in found.items()}
    steps = {label: np.array(one.notes["steps"]) for label, one in found.items()}
    names = found["one agent"].notes["names"]
    return {
        name: {
            label: (steps[label], np.where(each[:, i] < 0, np.nan, each[:, i]))
            for label, each in typical.items()
        }
        for i, name in enumerate(names)
    }


STEP = Step("fig7", "Fig. 7: parameters over samples", plan, make)
