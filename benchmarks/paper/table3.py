"""Table III: every method on the paper's space, and what is ours beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper.effort import Effort, Output, Step, compared, finished, least, measured
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import EVERY, Search
from marl_runs import geometric_mean

PAPERS = {
    "random-walk": "Random Walker",
    "bo": "Bayesian Optimization",
    "ga": "Genetic Algorithm",
    "ppo": "RL (PPO)",
    "gamma": "GAMMA",
    "marl:mode=paper": "MARL (this work), clustered",
    EVERY: "MARL (this work), one agent a parameter",
}
"""The paper's rows; its `MARL` does not say which assignment it has."""
OURS = ("random", "ppo-matched", "zero-shot", "marl", "auto:timeout=10.0")
OBJECTIVES = ("latency", "edp")

Groups, Runs = dict[str, list[Search]], dict[str, list[Found]]
"""A method's searches, and what they found, by layer."""


def plan(effort: Effort, kept: Kept | None = None) -> dict[tuple[str, str], dict[str, Groups]]:
    """Every search by cost model and objective, method and layer.

    Bounds are for `exact` alone, and so is `auto`.
    """
    return {
        (cost_model, objective): {
            method: {
                layer: effort.of_seeds(
                    layer=layer, objective=objective, method=method, cost_model=cost_model
                )
                for layer in effort.table
            }
            for method in (*PAPERS, *OURS)
            if method not in effort.skip and (cost_model == "exact" or "auto" not in method)
        }
        for cost_model, objective in product(effort.cost_models, OBJECTIVES)
    }


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a cost model, objective and method that has a search on every layer."""
    rows: list[Row] = []
    pairs = []
    for (cost_model, objective), groups in plan(effort).items():
        found = {method: finished(kept, of_layers) for method, of_layers in groups.items()}
        block = {m: runs for m, runs in found.items() if len(runs) == len(effort.table)}
        told = {"cost model": cost_model, "objective": objective}
        rows += [{**told, **row} for row in _rows(block, effort)]
        pairs += _pairs(block)
    over = compared(pairs)
    for row, other in zip(rows, over, strict=True):
        row["one agent a parameter / method"] = other.pop("ratio")
        row |= other
        row["CPU s"] = row.pop("CPU s")
    if rows:
        output.table("paper-table3.csv", rows)


def _pairs(block: dict[str, Runs]) -> Iterator[tuple[list[Any], list[Any]]]:
    """The paper's method and each other, on the layers where all runs of both found a mapping."""
    for method, runs in block.items():
        if EVERY not in block or method == EVERY:
            yield [], []
            continue
        both = [n for n in _mapped(runs) if n in _mapped(block[EVERY])]
        yield tuple([_bests(block[m][n]) for n in both] for m in (EVERY, method))


def _mapped(runs: Runs) -> list[str]:
    return [layer for layer, some in runs.items() if np.isfinite(_bests(some)).all()]


def _bests(runs: list[Found]) -> np.ndarray:
    return np.array([one.best for one in runs])


def _rows(block: dict[str, Runs], effort: Effort) -> Iterator[Row]:
    best = {n: least(runs[n] for runs in block.values()) for n in effort.table}
    for method, runs in block.items():
        found = [measured(runs[n], best[n]) for n in effort.table]
        arrivals = [one["samples to 5 %"] for one in found]
        over = {n: one["value / best"] for n, one in zip(effort.table, found, strict=True)}
        every = [one for some in runs.values() for one in some]
        yield {
            "method": method,
            "the paper's row": PAPERS.get(method, "ours"),
            "seeds": min(len(some) for some in runs.values()),
            "samples": effort.budget,
            "value / best": geometric_mean(list(over.values())),
            **{
                net: geometric_mean([v for n, v in over.items() if n.startswith(net)])
                for net in ("mobilenetv2", "vgg16")
            },
            "layers with a mapping": len(_mapped(runs)),
            "within 5 %": int(np.isfinite(arrivals).sum()),
            "samples to 5 %": float(np.median(arrivals)),
            "CPU s": float(np.mean([one.seconds for one in every])),
        }


STEP = Step("table3", "Table III: methods under equal samples", plan, make)
