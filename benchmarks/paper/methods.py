"""The methods on our own space, by samples and by processor time: the README's table."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frame import Row
from benchmarks.methods_table import reached
from benchmarks.paper.effort import Effort, Output, Step, compared
from benchmarks.paper.found import Found, Kept
from benchmarks.paper.searches import Search, tell
from marl_runs import geometric_mean

PORTFOLIO = "benchmarks.paper.portfolio:Portfolio"
SEEDED = "benchmarks.paper.portfolio:SeededGa"
SHORT = {PORTFOLIO: "zero-shot 16, then ga", SEEDED: "ga from marl's 32 proposals"}
METHODS = (
    *("marl", "marl:pretrained=none", "marl:mode=paper", "zero-shot", SEEDED, PORTFOLIO, "ga"),
    *("annealing", "local", "cross-entropy", "cma-es", "gamma", "ppo-matched", "ppo", "random"),
)
PROOF = "auto"
OUR_SPACE = {"space": "", "accelerator": "edge", "objective": "edp", "cost_model": "exact"}
UNENDING = 100_000_000
"""A budget that no method uses up in the longest time."""
FIRST = "marl"


def plan(effort: Effort, kept: Kept | None = None) -> tuple[Any, ...]:
    """Searches under equal samples and under equal time, by method and layer; the proofs."""
    timed = {"budget": UNENDING, "seconds": max(effort.seconds)}
    searched = (
        {
            method: {n: effort.of_seeds(layer=n, method=method, **OUR_SPACE, **end)
                     for n in effort.table}
            for method in METHODS
            if method not in effort.skip
        }
        for end in ({}, timed)
    )  # fmt: skip
    proofs = {n: Search(n, method=PROOF, budget=effort.budget, **OUR_SPACE) for n in effort.table}
    return *searched, proofs


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a method with searches on every layer; values are over the proven optimum."""
    *groups, asked = plan(effort)
    proofs = {layer: kept(search) for layer, search in asked.items() if search in kept}
    unproven = [one for one in effort.table if one not in proofs or not proofs[one].proven]
    if unproven:
        tell(f"methods: no proof of {', '.join(unproven)}, so no table")
        return
    optimum = {layer: found.best for layer, found in proofs.items()}
    searched, timed = (
        {m: {n: kept.of(some) for n, some in of_layers.items()} for m, of_layers in group.items()}
        for group in groups
    )
    methods = [m for m, runs in searched.items() if all(runs.values()) and all(timed[m].values())]
    if FIRST not in methods:
        return
    first = _bests(searched[FIRST])
    pairs = [([], []) if m == FIRST else (first, _bests(searched[m])) for m in methods]
    rows = [
        _row(method, searched[method], timed[method], optimum, effort)
        | {"marl / method": over.pop("ratio"), **over}
        for method, over in zip(methods, compared(pairs), strict=True)
    ]
    rows.sort(key=lambda row: row["EDP, geometric mean"])
    output.table("paper-methods.csv", [_proof_row(proofs, effort, rows[0]), *rows])


def _bests(found: dict[str, list[Found]]) -> list[np.ndarray]:
    return [np.array([one.best for one in runs]) for runs in found.values()]


def _row(
    method: str,
    searched: dict[str, list[Found]],
    timed: dict[str, list[Found]],
    optimum: dict[str, float],
    effort: Effort,
) -> Row:
    def over(values: dict[str, float]) -> float:
        return geometric_mean([value / optimum[layer] for layer, value in values.items()])

    def median(found: dict[str, list[Found]], of: Any) -> dict[str, float]:
        return {layer: float(np.median([of(one) for one in r])) for layer, r in found.items()}

    arrived = [
        float(np.median([one.arrival(1.05 * optimum[layer]) for one in runs]))
        for layer, runs in searched.items()
    ]
    every = [one for runs in searched.values() for one in runs]
    ends = [one.samples for runs in timed.values() for one in runs]
    return {
        "method": SHORT.get(method, method),
        "seeds": min(len(runs) for some in (searched, timed) for runs in some.values()),
        "EDP, geometric mean": over(median(searched, lambda one: one.best)),
        "samples to 5 %": reached(arrived),
        "CPU s": float(np.mean([one.seconds for one in every])),
        **{
            f"in {seconds:g} s": over(median(timed, lambda one, s=seconds: one.best_at(s)))
            for seconds in effort.seconds
        },
        f"samples in {max(effort.seconds):g} s": int(np.median(ends)),
        "layers within 5 %": int(np.isfinite(arrived).sum()),
    }


def _proof_row(proofs: dict[str, Found], effort: Effort, like: Row) -> Row:
    """`auto`: its value is the optimum, from the time at which it was proven."""
    seconds = sorted(one.seconds for one in proofs.values())
    row: Row = dict.fromkeys(like, "")
    row |= {"method": "auto (a proof)", "seeds": 1, "EDP, geometric mean": 1.0}
    row |= {"CPU s": float(np.median(seconds)), "layers within 5 %": len(proofs)}
    for limit in effort.seconds:
        done = sum(one <= limit for one in seconds)
        row[f"in {limit:g} s"] = f"{done} of {len(seconds)} proven"
    return row


STEP = Step("methods", "methods by samples and by processor time, our space", plan, make)
