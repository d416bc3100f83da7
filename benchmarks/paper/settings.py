"""What the paper does not print: settings, swept in equal measure for many agents and for one.

One setting at a time, from ours; and the single agent of stable-baselines3 beside one agent with
our settings, for `long` samples.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from benchmarks.frame import Row
from benchmarks.paper.effort import Effort, Output, Step, finished, least, measured
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import EVERY, ONE_AGENT

SWEPT: dict[str, tuple[Any, ...]] = {
    "learning_rate": (1e-3, 3e-3, 3e-2),
    "hidden": (8, 64),
    "batch": (64, 512),
    "discount": (0.5, 0.95),
    "normalise": ("false",),
    "entropy": (0.0, 0.1),
}
"""Values beside ours: 0.01, 16, 128, 0, true and 0.01."""
BOTH = {"many": EVERY, "one": ONE_AGENT}
SINGLE = {"one agent, our settings": ONE_AGENT, "ppo-matched": "ppo-matched", "ppo (SB3)": "ppo"}


def plan(effort: Effort, kept: Kept | None = None) -> dict[tuple[str, str], tuple[Any, Any]]:
    """By cost model and layer the sweep of many agents and of one, and the single agents."""
    changed = ((f"{name}={v}", f":{name}={v}") for name, some in SWEPT.items() for v in some)
    variants, found = [("ours", ""), *changed], {}
    for cost_model, layer in product(effort.cost_models, effort.swept):
        told = {"layer": layer, "objective": "latency", "cost_model": cost_model}
        sweep = {
            name: {label: effort.of_seeds(**told, method=m + text) for label, m in BOTH.items()}
            for name, text in variants
        }
        single = {
            label: effort.of_seeds(**told, method=method, budget=effort.long)
            for label, method in SINGLE.items()
            if method not in effort.skip
        }
        found[cost_model, layer] = sweep, single
    return found


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a setting, and one a single agent."""
    rows, single = [], []
    for (cost_model, layer), (swept, agents) in plan(effort).items():
        case = {"cost model": cost_model, "layer": layer}
        sweep = {
            name: {label: kept.of(each) for label, each in pair.items()}
            for name, pair in swept.items()
        }
        alone = finished(kept, agents)
        best = least([*alone.values(), *(r for pair in sweep.values() for r in pair.values())])
        rows += [
            {**case, "setting": name, **_both(pair, best)}
            for name, pair in sweep.items()
            if all(pair.values())
        ]
        single += [
            {**case, "agent": label, "samples": effort.long, **_alone(runs, best)}
            for label, runs in alone.items()
        ]
    if rows:
        output.table("paper-settings.csv", rows)
    if single:
        output.table("paper-single.csv", single)


def _both(pair: dict[str, list[Found]], best: float) -> Row:
    row: Row = {"seeds": min(map(len, pair.values()))}
    for label, runs in pair.items():
        found = measured(runs, best)
        row |= {label: found["last mean return"], f"{label}, +-": found["+-"]}
        row[f"{label}, value / best"] = found["value / best"]
    return row


def _alone(runs: list[Found], best: float) -> Row:
    row = measured(runs, best)
    told = {"seeds": row.pop("seeds"), "passes 0.5 at": row.pop("arrives at")}
    del row["samples"], row["samples to 5 %"]
    return told | row


STEP = Step("settings", "settings that are not printed, for many agents and one", plan, make)
