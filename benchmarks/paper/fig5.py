"""Fig. 5: mean return of many agents and of one, and "ResNet18 layer 2" of the text.

One agent searches `long` samples; its level is 95 % of its last mean return there. Both arrive when
the mean return of their last 500 samples reaches it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.paper import curves
from benchmarks.paper.effort import (
    MANY,
    ONE,
    Effort,
    Output,
    Step,
    last_return,
    mean_and_error,
    return_arrives,
    returns,
)
from benchmarks.paper.searches import Found, Kept, Search

PRINTED = {
    ("mobilenetv2.2", "latency"): 100.0,
    ("mobilenetv2.2", "area"): 40.0,
    ("mobilenetv2.2", "edp"): 312.5,
    ("vgg16.1", "latency"): 30.0,
    ("vgg16.1", "area"): 63.0,
    ("vgg16.1", "edp"): 41.6,
    ("resnet18.1", "latency"): 120.0,
}
"""How many times sooner many agents converge, as the paper has it."""
LEVEL = 0.95


def panels(effort: Effort) -> list[tuple[str, str, str]]:
    """Cost model, layer and objective of each panel.

    `exact` prices buffers by their capacity, and the paper's chip has none: so no area there.
    """
    every = [(model, *panel) for model in effort.cost_models for panel in PRINTED]
    return [panel for panel in every if (panel[0], panel[2]) != ("exact", "area")]


def three(effort: Effort, panel: tuple[str, str, str], seed: int) -> dict[str, Search]:
    """Many agents, one, and one for long."""
    cost_model, layer, objective = panel
    many = Search(layer, objective, MANY, cost_model, budget=effort.budget, seed=seed)
    one = replace(many, method=ONE)
    return {"many": many, "one": one, "long": replace(one, budget=effort.long)}


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """The long searches last."""
    sets = [three(effort, panel, seed) for seed in range(effort.seeds) for panel in panels(effort)]
    short = [one[name] for one in sets for name in ("many", "one")]
    return [*short, *(one["long"] for one in sets)]


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a panel, and the curves of the first cost model."""
    rows, drawn = [], {}
    for panel in panels(effort):
        runs = [
            {name: kept(search) for name, search in three(effort, panel, seed).items()}
            for seed in range(effort.seeds)
        ]
        row, lines = _panel(panel, runs, effort)
        rows.append(row)
        if panel[0] == effort.cost_models[0]:
            drawn[", ".join(panel[1:])] = lines
    output.table("paper-fig5.csv", rows)
    curves.keep_curves(drawn, output.data / "paper-fig5-curves.csv")
    curves.draw(drawn, output.figures / "fig5.png", "mean return", columns=3)


def _panel(
    panel: tuple[str, str, str], runs: list[dict[str, Found]], effort: Effort
) -> tuple[dict[str, Any], dict[str, Any]]:
    best = min(one.best for each in runs for one in each.values())
    window = effort.window
    arrived = []
    for each in runs:
        level = LEVEL * last_return(each["long"], best, window)
        arrived.append([return_arrives(each[n], best, level, window) for n in ("many", "long")])
    sooner = [long / many for many, long in arrived if np.isfinite(many) and np.isfinite(long)]
    row: dict[str, Any] = {
        **dict(zip(("cost model", "layer", "objective"), panel, strict=True)),
        "seeds": effort.seeds,
        "long": effort.long,
    }
    for name in ("many", "one", "long"):
        mean, error = mean_and_error([last_return(each[name], best, window) for each in runs])
        row |= {f"{name}, last mean return": mean, f"{name}, +-": error}
    row["many arrive at"] = float(np.median([many for many, _ in arrived]))
    row["one arrives at"] = float(np.median([long for _, long in arrived]))
    row["seeds in which many arrive"] = sum(np.isfinite(many) for many, _ in arrived)
    row["times sooner"] = float(np.median(sooner)) if sooner else ""
    row["least"] = min(sooner) if sooner else ""
    row["most"] = max(sooner) if sooner else ""
    row["paper"] = PRINTED[panel[1:]]
    row["best of one / of many"] = float(
        np.median([each["one"].best / each["many"].best for each in runs])
    )
    lines = {}
    for name, label in (("many", "one agent a parameter"), ("long", "one agent")):
        ends = curves.windows(len(runs[0][name].values))
        means = [curves.mean_returns(returns(each[name], best), ends) for each in runs]
        lines[label] = (ends, np.mean(means, axis=0))
    return row, lines


STEP = Step("fig5", "Fig. 5: many agents and one, and ResNet18's layer 2", plan, make)
