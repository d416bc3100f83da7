"""Figures: returns against steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_runs import Store, colour, grouped, line_style, mean_interval, new_figure, save_figure
from mast.config import MastConfig
from mast.errors import MastError

Points = dict[int, float]
"""Step -> return of a run."""
Line = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Steps, mean returns, half widths."""
Curves = dict[str, dict[str, Line]]
"""Task and algorithm -> arm and number of seeds -> its curve."""


def stored_curves(places: Sequence[Path]) -> Curves:
    """Mean return over the seeds of each arm, where all its runs have been evaluated.

    Runs of an arm that differ by more than their seeds are curves of their own.

    Args:
        places: Stores with the runs.
    """
    panels: dict[str, list[tuple[str, dict[str, Any], Points]]] = {}
    for place in places:
        with Store.open(place, create=False) as store:
            for run in store.runs(kind="mast"):
                config = MastConfig.of(run.spec["config"])
                settings = {"steps": run.budget, **dataclasses.asdict(config)}
                steps, values = store.metrics(run.id, "return")
                points = dict(zip(steps.tolist(), values.tolist(), strict=True))
                panel = panels.setdefault(f"{config.task} {config.algorithm}", [])
                panel.append((config.label, settings, points))
    curves: Curves = {}
    for title, runs in panels.items():
        for label, alike in grouped(runs).items():
            if (line := _mean_line(alike)) is not None:
                curves.setdefault(title, {})[label] = line
    return curves


def _mean_line(runs: Sequence[Points]) -> Line | None:
    """Steps that all have been evaluated at, mean returns, half widths; None: there are none."""
    common = sorted(set.intersection(*(set(points) for points in runs)))
    if not common:
        return None
    values = np.array([[points[at] for at in common] for points in runs])
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
    figure = new_figure(6 * columns, 4.2 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, lines) in zip(panels, curves.items(), strict=False):
        for place, (label, (steps, mean, half)) in enumerate(lines.items()):
            look = {"color": colour(place), "linestyle": line_style(place)}
            axes.plot(steps, mean, label=label, **look)
            axes.fill_between(steps, mean - half, mean + half, color=colour(place), alpha=0.15)
        axes.set(title=title, xlabel="steps", ylabel="return of greedy episodes")
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    return save_figure(figure, path)
