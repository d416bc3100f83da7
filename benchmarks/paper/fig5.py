"""Fig. 5: mean return of many agents and of one, and "ResNet18 layer 2" of the text.

One agent searches `long` samples; its level is 95 % of its last mean return there (until these
searches are finished, of one as long as that of many agents). Both arrive when the mean return of
their last 500 samples reaches it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper import curves
from benchmarks.paper.effort import Effort, Output, Step, least, measured
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import EVERY, ONE_AGENT, Search

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


def plan(
    effort: Effort, kept: Kept | None = None
) -> dict[tuple[str, str, str], list[dict[str, Search]]]:
    """Many agents, one, and one for long, by cost model, layer and objective, and seed.

    `exact` prices buffers by their capacity, and the paper's chip has none: so no area there.
    """
    found: dict[tuple[str, str, str], list[dict[str, Search]]] = {}
    panels = product(effort.cost_models, PRINTED, range(effort.seeds))
    for cost_model, (layer, objective), seed in panels:
        if (cost_model, objective) == ("exact", "area"):
            continue
        many = Search(layer, objective, EVERY, cost_model, budget=effort.budget, seed=seed)
        one = replace(many, method=ONE_AGENT)
        alike = {"many": many, "one": one, "long": replace(one, budget=effort.long)}
        found.setdefault((cost_model, layer, objective), []).append(alike)
    return found


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a panel, and the curves of the first cost model."""
    rows, drawn = [], {}
    for panel, sets in plan(effort).items():
        runs = [
            {name: kept(search) for name, search in one.items() if search in kept}
            for one in sets
            if one["many"] in kept and one["one"] in kept
        ]
        if not runs:
            continue
        row, lines = _panel(panel, runs, effort)
        rows.append(row)
        if panel[0] == effort.cost_models[0]:
            drawn[", ".join(panel[1:])] = lines
    if rows:
        output.table("paper-fig5.csv", rows)
    if drawn:
        curves.keep("fig5", drawn, output.data, output.figures)


def _panel(
    panel: tuple[str, str, str], runs: list[dict[str, Found]], effort: Effort
) -> tuple[Row, Row]:
    """The single agent's level is that of its long searches, where every seed has one."""
    best = least(each.values() for each in runs)
    single = "long" if all("long" in each for each in runs) else "one"
    arrived = []
    for each in runs:
        level = LEVEL * each[single].last_return(best)
        arrived.append([each[n].return_arrives(best, level) for n in ("many", single)])
    sooner = [one / many for many, one in arrived if np.isfinite(many) and np.isfinite(one)]
    row: Row = {
        **dict(zip(("cost model", "layer", "objective"), panel, strict=True)),
        "seeds": len(runs),
        "samples of one": effort.long if single == "long" else effort.budget,
    }
    both = {"many": "many", "one": single}
    found = {name: measured([each[key] for each in runs], best) for name, key in both.items()}
    for name, one in found.items():
        row |= {f"{name}, {what}": one[what] for what in ("last mean return", "+-")}
    row["many arrive at"], row["one arrives at"] = np.median(arrived, axis=0).tolist()
    row |= {f"{name} past 0.5 at": one["arrives at"] for name, one in found.items()}
    row["seeds in which many arrive"] = sum(np.isfinite(many) for many, _ in arrived)
    extremes = (float(np.median(sooner)), min(sooner), max(sooner)) if sooner else ("",) * 3
    row |= zip(("times sooner", "least", "most"), extremes, strict=True)
    row["paper"] = PRINTED[panel[1:]]
    row["best of one / of many"] = float(
        np.median([each["one"].best / each["many"].best for each in runs])
    )
    lines = {}
    for name, label in (("many", "one agent a parameter"), (single, "one agent")):
        ends = curves.windows(runs[0][name].samples)
        lines[label] = (ends, np.mean([each[name].returns(best) for each in runs], axis=0))
    return row, lines


STEP = Step("fig5", "Fig. 5: many agents and one, and ResNet18's layer 2", plan, make)
