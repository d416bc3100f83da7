"""Fig. 6: 1, 2, 3, 6, 9 and all agents on four layers, in the paper's space and in that of ten."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper import curves
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
from benchmarks.paper.searches import Search, choosing, problem_of

COUNTS = (1, 2, 3, 6, 9)
SPACES = ("paper", "paper-10")
LEVEL = 0.9
ALL_AGENTS = "all"
Groups = dict[str, list[Search]]


def grouped(layer: str, cost_model: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The assignments that the paper spells out, of the space of ten parameters.

    Two agents: K with C, and the others. Nine: K with C, and each other one alone.
    """
    search = Search(layer, "latency", "random", cost_model, "paper-10")
    names = choosing(problem_of(search))
    pair = tuple(n for n in ("outer_tile_K", "outer_tile_C") if n in names)
    if len(pair) < 2:
        return {}
    rest = tuple(name for name in names if name not in pair)
    return {"K with C, the others": (pair, rest), "K with C": (pair, *((n,) for n in rest))}


def plan(effort: Effort, kept: Kept | None = None) -> dict[tuple[str, ...], Groups]:
    """Cuts of the stored dendrogram, and the assignments that the paper spells out."""
    cases = product(effort.cost_models, SPACES, effort.layers)
    return {case: _of_layer(effort, *case) for case in cases}


def _of_layer(effort: Effort, cost_model: str, space: str, layer: str) -> Groups:
    """The searches of a layer, by what the table calls an assignment."""
    told = {"layer": layer, "objective": "latency", "cost_model": cost_model, "space": space}
    count = len(choosing(problem_of(Search(**told, method="random"))))
    numbers = [*(str(n) for n in COUNTS if n < count), ALL_AGENTS]
    found = {n: effort.of_seeds(**told, method=f"marl:mode=paper:agents={n}") for n in numbers}
    for name, agents in grouped(layer, cost_model).items() if space == "paper-10" else ():
        alike = effort.of_seeds(**told, method="marl:mode=paper", agents=agents)
        found[f"{len(agents)}: {name}"] = alike
    return found


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a layer, space and number of agents, and one a number over the layers."""
    rows: list[Row] = []
    drawn = {}
    returns: dict[tuple[str, ...], list[dict[str, np.ndarray]]] = {}
    for (cost_model, space, layer), groups in plan(effort).items():
        found = finished(kept, groups)
        if ALL_AGENTS not in found:
            continue
        best = least(found.values())
        told = {"cost model": cost_model, "space": space, "layer": layer}
        rows += [{**told, **row} for row in _rows(found, best)]
        each = {name: last_returns(runs, best) for name, runs in found.items()}
        returns.setdefault((cost_model, space), []).append(each)
        if cost_model == effort.cost_models[0] and space == "paper":
            ends = curves.windows(effort.budget)
            drawn[layer] = {
                f"{name} agents": (ends, np.mean([r.returns(best) for r in runs], axis=0))
                for name, runs in found.items()
            }
    if rows:
        output.table("paper-fig6.csv", rows)
        names = ("cost model", "space", "agents")
        over = over_cases(returns, ALL_AGENTS, names, "return / all agents'")
        output.table("paper-fig6-agents.csv", over)
    if drawn:
        curves.keep("fig6", drawn, output.data, output.figures)


def _rows(found: dict[str, list[Found]], best: float) -> Iterator[Row]:
    level = LEVEL * max(
        float(np.mean([one.last_return(best) for one in runs])) for runs in found.values()
    )
    for name, runs in found.items():
        row = measured(runs, best, level)
        del row["samples"], row["samples to 5 %"]
        yield {"agents": name, **row}


STEP = Step("fig6", "Fig. 6: number of agents", plan, make)
