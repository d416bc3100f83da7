"""The numbers behind the plots: best-so-far curves with bands, ratios, samples to the target."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.compare.entry import ComparedCase
from mapper.compare.summary import Summary
from marl_runs import Band, band_of


@dataclass(frozen=True)
class Bar:
    """One bar.

    Args:
        method: The method.
        value: Length; None where there is nothing to draw.
        text: For the end of the bar.
        parts: The values of which `value` is the mean, if any.
    """

    method: str
    value: float | None
    text: str
    parts: tuple[float, ...] = ()


def bands(summary: Summary, case: ComparedCase) -> dict[str, Band]:
    """Best so far of every method with a finished run; each ends where its longest run ended."""
    found = {}
    for method in summary.methods:
        done = summary.cell(case, method).finished
        last = max((entry.samples for entry in done), default=0)
        if last >= 1:
            found[method] = band_of([entry.curve for entry in done], last)
    return found


def ratio_bars(summary: Summary, objective: str) -> list[Bar]:
    """Geometric mean of the ratios to the reference, for every method; parts are the layers'."""
    cases = [case for case in summary.cases if case.objective == objective]
    bars = []
    for method in summary.methods:
        ratio = summary.mean_ratio(objective, method)
        shown = None if ratio is None or math.isinf(ratio) else ratio
        text = "missing" if ratio is None else "no mapping" if shown is None else f"{ratio:.2f}x"
        ratios = [summary.ratio(case, method) for case in cases]
        parts = tuple(r for r in ratios if r is not None and math.isfinite(r))
        bars.append(Bar(method, shown, text, parts))
    return bars


def target_bars(summary: Summary, case: ComparedCase) -> list[Bar]:
    """Median samples to the target on one case, and how many runs reached it."""
    bars = []
    for method in summary.methods:
        cell = summary.cell(case, method)
        if cell.to_target is None:
            bars.append(Bar(method, None, "missing"))
            continue
        share = f"{cell.reached}/{len(cell.finished)}"
        if math.isinf(cell.to_target):
            bars.append(Bar(method, None, f"not reached ({share})"))
        else:
            bars.append(Bar(method, cell.to_target, f"{cell.to_target:,.0f} ({share})"))
    return bars
