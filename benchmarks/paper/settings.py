"""What the paper does not print: settings, swept in equal measure for many agents and for one.

One setting at a time, from ours.
"""

from __future__ import annotations

from typing import Any

from benchmarks.paper.effort import Effort, Output, Step, least, measured
from benchmarks.paper.found import Found
from benchmarks.paper.kept import Kept
from benchmarks.paper.searches import EVERY, ONE_AGENT, Search

SWEPT: dict[str, tuple[Any, ...]] = {
    "learning_rate": (1e-3, 3e-3, 3e-2),
    "hidden": (8, 64),
    "batch": (64, 512),
    "discount": (0.5, 0.95),
    "normalise": ("false",),
    "entropy": (0.0, 0.1),
}
"""Values beside ours: 0.01, 16, 128, 0, true and 0.01."""


def variants() -> list[tuple[str, str]]:
    """Name of a setting and what a method's text says of it."""
    changed = [(f"{name}={v}", f":{name}={v}") for name, some in SWEPT.items() for v in some]
    return [("ours", ""), *changed]


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """The sweep."""
    return [
        search
        for told in _cases(effort)
        for pair in _sweep(effort, told).values()
        for some in pair.values()
        for search in some
    ]


def _cases(effort: Effort) -> list[dict[str, str]]:
    return [
        {"layer": layer, "objective": "latency", "cost_model": cost_model}
        for cost_model in effort.cost_models
        for layer in effort.swept
    ]


def _sweep(effort: Effort, told: dict[str, str]) -> dict[str, dict[str, list[Search]]]:
    """The searches of many agents and of one, by setting."""
    both = {"many": EVERY, "one": ONE_AGENT}
    return {
        name: {label: effort.of_seeds(**told, method=m + text) for label, m in both.items()}
        for name, text in variants()
    }


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a setting."""
    rows = []
    for told in _cases(effort):
        case = {"cost model": told["cost_model"], "layer": told["layer"]}
        sweep = {
            name: {label: kept.of(each) for label, each in pair.items()}
            for name, pair in _sweep(effort, told).items()
        }
        best = least(runs for pair in sweep.values() for runs in pair.values())
        rows += [
            {**case, "setting": name, **_both(pair, best)}
            for name, pair in sweep.items()
            if all(pair.values())
        ]
    if rows:
        output.table("paper-settings.csv", rows)


def _both(pair: dict[str, list[Found]], best: float) -> dict[str, Any]:
    row: dict[str, Any] = {"seeds": min(map(len, pair.values()))}
    for label, runs in pair.items():
        found = measured(runs, best)
        row |= {label: found["last mean return"], f"{label}, +-": found["+-"]}
        row[f"{label}, value / best"] = found["value / best"]
    return row


STEP = Step("settings", "settings that are not printed, for many agents and one", plan, make)
