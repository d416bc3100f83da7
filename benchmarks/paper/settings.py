"""What the paper does not print: settings, swept in equal measure for many agents and for one.

One setting at a time, from ours; and the single agent of stable-baselines3 beside one agent with
our settings, for `long` samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.effort import (
    MANY,
    ONE,
    Effort,
    Output,
    Step,
    last_return,
    mean_and_error,
    return_arrives,
)
from benchmarks.paper.searches import Kept, Search

SWEPT: dict[str, tuple[Any, ...]] = {
    "learning_rate": (1e-3, 3e-3, 3e-2),
    "hidden": (8, 64),
    "batch": (64, 512),
    "discount": (0.5, 0.95),
    "normalise": ("false",),
    "entropy": (0.0, 0.1),
}
"""Values beside ours: 0.01, 16, 128, 0, true and 0.01."""
SINGLE = {"one agent, our settings": ONE, "ppo-matched": "ppo-matched", "ppo (SB3)": "ppo"}
HALF = 0.5


def variants() -> list[tuple[str, str]]:
    """Name of a setting and what a method's text says of it."""
    changed = [(f"{name}={v}", f":{name}={v}") for name, some in SWEPT.items() for v in some]
    return [("ours", ""), *changed]


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """The sweep, then the single agents."""
    searches = []
    for cost_model in effort.cost_models:
        for layer in effort.swept:
            told = {"layer": layer, "objective": "latency", "cost_model": cost_model}
            for _, text in variants():
                for method in (MANY, ONE):
                    searches += effort.of_seeds(**told, method=method + text)
            for method in SINGLE.values():
                if method not in effort.skip:
                    searches += effort.of_seeds(**told, method=method, budget=effort.long)
    return searches


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a setting, and one a single agent."""
    rows, single = [], []
    for cost_model in effort.cost_models:
        for layer in effort.swept:
            told = {"layer": layer, "objective": "latency", "cost_model": cost_model}
            best = min(kept(search).best for search in plan(effort) if search.case == _case(told))
            for name, text in variants():
                row: dict[str, Any] = {"cost model": cost_model, "layer": layer, "setting": name}
                row["seeds"] = effort.seeds
                for label, method in (("many", MANY), ("one", ONE)):
                    runs = [kept(s) for s in effort.of_seeds(**told, method=method + text)]
                    last = [last_return(one, best, effort.window) for one in runs]
                    row[label], row[f"{label}, +-"] = mean_and_error(last)
                    row[f"{label}, value / best"] = float(
                        np.median([one.best for one in runs]) / best
                    )
                rows.append(row)
            single += _single(effort, kept, told, best)
    output.table("paper-settings.csv", rows)
    output.table("paper-single.csv", single)


def _case(told: dict[str, Any]) -> Any:
    return Search(**told, method="random").case


def _single(effort: Effort, kept: Kept, told: dict[str, Any], best: float) -> list[Any]:
    rows = []
    for label, method in SINGLE.items():
        if method in effort.skip:
            continue
        runs = [kept(s) for s in effort.of_seeds(**told, method=method, budget=effort.long)]
        mean, error = mean_and_error([last_return(one, best, effort.window) for one in runs])
        half = [return_arrives(one, best, HALF, effort.window) for one in runs]
        rows.append(
            {
                "cost model": told["cost_model"],
                "layer": told["layer"],
                "agent": label,
                "seeds": effort.seeds,
                "samples": effort.long,
                "passes 0.5 at": float(np.median(half)),
                "last mean return": mean,
                "+-": error,
                "value / best": float(np.median([one.best for one in runs]) / best),
                "CPU s": float(np.mean([one.seconds for one in runs])),
            }
        )
    return rows


STEP = Step("settings", "settings that are not printed, for many agents and one", plan, make)
