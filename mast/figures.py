"""Figures: returns against steps."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mast.config import MastConfig
from mast.errors import MastError
from runs import (
    Store,
    StoredRun,
    colour,
    line_style,
    mean_interval,
    new_figure,
    save_figure,
    told_apart,
)

Line = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Steps, mean returns, half widths."""
Curves = dict[str, dict[str, Line]]
"""Task and algorithm -> arm and number of seeds -> its curve."""


def stored_curves(store: Store) -> Curves:
    """Mean return over the seeds of each arm, where all its runs have been evaluated.

    Runs of an arm that differ by more than their seeds are curves of their own.
    """
    arms: dict[tuple[str, str], dict[str, list[StoredRun]]] = {}
    for run in store.runs(kind="mast"):
        config = MastConfig.of(run.spec["config"])
        title = f"{config.task} {config.algorithm}"
        settings = json.dumps(_settings(run), sort_keys=True)
        arms.setdefault((title, config.label), {}).setdefault(settings, []).append(run)
    curves: Curves = {}
    for (panel, arm), alike in arms.items():
        labels = told_apart([json.loads(settings) for settings in alike])
        for apart, runs in zip(labels, alike.values(), strict=True):
            if (curve := _mean_curve(store, runs)) is not None:
                seeds = f"{len(runs)} seeds" if len(runs) > 1 else ""
                label = ", ".join(part for part in (arm, apart, seeds) if part)
                curves.setdefault(panel, {})[label] = curve
    return curves


def _settings(run: StoredRun) -> dict[str, Any]:
    """What defines a run beside its seed."""
    return {"steps": run.budget, **dataclasses.asdict(MastConfig.of(run.spec["config"]))}


def _mean_curve(store: Store, runs: Sequence[StoredRun]) -> Line | None:
    """Steps that all have been evaluated at, mean returns, half widths; None: there are none."""
    curves = []
    for run in runs:
        steps, values = store.metrics(run.id, "return")
        curves.append(dict(zip(steps.tolist(), values.tolist(), strict=True)))
    common = sorted(set.intersection(*(set(curve) for curve in curves)))
    if not common:
        return None
    values = np.array([[curve[at] for at in common] for curve in curves])
    return np.array(common), *mean_interval(values)


def draw_curves(curves: Mapping[str, Mapping[str, Any]], path: Path) -> list[Path]:
    """Draw a panel a task and algorithm; returns the files.

    Raises:
        MastError: There is nothing to draw.
        FigureError: matplotlib is not installed.
    """
    if not curves:
        raise MastError("no evaluated runs to draw; run `mast train` with this store first.")
    columns = min(2, len(curves))
    rows = -(-len(curves) // columns)
    figure = new_figure(6 * columns, 3.6 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, lines) in zip(panels, curves.items(), strict=False):
        for place, (label, (steps, mean, half)) in enumerate(lines.items()):
            look = {"color": colour(place), "linestyle": line_style(place)}
            axes.plot(steps, mean, label=label, **look)
            axes.fill_between(steps, mean - half, mean + half, color=colour(place), alpha=0.15)
        axes.set(title=title, xlabel="steps", ylabel="return of greedy episodes")
        axes.legend(fontsize="small")
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    return save_figure(figure, path)
