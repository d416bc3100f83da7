"""Learning curves over seeds, drawn in panels that share their colours and one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marl_common import FloatArray
from marl_runs.palette import colour, line_style, panel_grid
from marl_runs.statistics import mean_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = tuple[FloatArray, FloatArray, FloatArray]
"""``(N,)`` places along x, means, and half widths of their intervals."""


def mean_line(runs: Sequence[Mapping[int, float]]) -> Line | None:
    """The mean of runs where all have a point, and its interval; None where there is none.

    Args:
        runs: Place along x -> value, of each run.
    """
    common = sorted(set.intersection(*(set(run) for run in runs)))
    if not common:
        return None
    return np.array(common), *mean_interval(np.array([[run[at] for at in common] for run in runs]))


def draw_lines(axes: Any, lines: Mapping[str, Line], labels: Sequence[str]) -> dict[str, Any]:
    """Draw lines with their intervals; label -> what a legend shows.

    Args:
        axes: Where to draw.
        lines: Label -> line.
        labels: Labels of the whole figure, whose places decide colours and styles.
    """
    handles = {}
    for label, (places, mean, half) in lines.items():
        place = labels.index(label)
        look = {"color": colour(place), "linestyle": line_style(place)}
        (handles[label],) = axes.plot(places, mean, linewidth=1.2, **look)
        axes.fill_between(places, mean - half, mean + half, alpha=0.15, color=colour(place))
    return handles


def panel_figure(panels: Mapping[str, Mapping[str, Line]], x: str, y: str) -> Figure:
    """Draw a panel each, two beside each other.

    Args:
        panels: Title -> label -> line.
        x: What stands below each panel.
        y: What stands beside each.
    """
    figure, places = panel_grid(len(panels), 2, (6, 3.6))
    labels = list(dict.fromkeys(label for lines in panels.values() for label in lines))
    handles: dict[str, Any] = {}
    for axes, (title, lines) in zip(places, panels.items(), strict=True):
        handles |= draw_lines(axes, lines, labels)
        axes.set(title=title, xlabel=x, ylabel=y)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=2, fontsize="small"
    )
    return figure
