"""Figures: returns against steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mast.config import MastConfig
from mast.errors import MastError
from runs import Store, colour, line_style, mean_interval, new_figure, save_figure

Curves = dict[str, dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]]
"""Task and algorithm -> arm and number of seeds -> steps, mean returns, half widths."""


def stored_curves(store: Store) -> Curves:
    """Mean return over the seeds of each arm, where all its runs have been evaluated."""
    arms: dict[tuple[str, str], list[dict[int, float]]] = {}
    for run in store.runs(kind="mast"):
        config = MastConfig.of(run.spec["config"])
        steps, values = store.metrics(run.id, "return")
        curve = dict(zip(steps.tolist(), values.tolist(), strict=True))
        arms.setdefault((f"{config.task} {config.algorithm}", config.label), []).append(curve)
    curves: Curves = {}
    for (panel, arm), seeds in arms.items():
        common = sorted(set.intersection(*(set(curve) for curve in seeds)))
        if common:
            values = np.array([[curve[at] for at in common] for curve in seeds])
            label = f"{arm}, {len(seeds)} seeds" if len(seeds) > 1 else arm
            curves.setdefault(panel, {})[label] = (np.array(common), *mean_interval(values))
    return curves


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
