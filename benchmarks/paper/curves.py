"""Curves of the figures as files, and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.frame import Row, grouped, known, write
from marl_common import FloatArray
from marl_runs import colour, line_style, panel_grid, save_figure

FIGURES: dict[str, tuple[str, Row]] = {
    "fig5": ("paper-fig5-curves.csv", {"ylabel": "mean return", "columns": 3}),
    "fig6": ("paper-fig6-curves.csv", {"ylabel": "mean return", "columns": 2}),
    "fig7": (
        "paper-fig7-curves.csv",
        {"ylabel": "mean choice, first (0) to last (1)", "columns": 4, "panel_in": (3.0, 1.8)},
    ),
    "table3-edp": (
        "table3-curves.csv",
        {
            "ylabel": "best EDP so far over the proven optimum, median of seeds",
            "columns": 4,
            "panel_in": (3.2, 2.6),
            "ylim": (0.97, 2.2),
        },
    ),
}
"""Of each figure the file of its curves, and how it is drawn."""
COLUMNS = ("panel", "label", "samples", "value")
Curves = dict[str, dict[str, tuple[FloatArray, FloatArray]]]
"""``curves[panel][label] = (samples, values)``."""


def windows(budget: int, count: int = 24) -> np.ndarray:
    """Ends of windows of samples, evenly spaced on a log axis."""
    return np.unique(np.geomspace(min(64, budget), budget, count).round().astype(int))


def mean_returns(returns: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Mean of the returns ``(n,)`` over each window."""
    begins = [0, *ends[:-1]]
    parts = [returns[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return np.array([part.mean() if len(part) else np.nan for part in parts])


def rows_of(curves: Curves) -> list[Row]:
    """What a figure is drawn from, a row a point."""
    return [
        dict(zip(COLUMNS, (panel, label, int(n), f"{value:.5g}"), strict=True))
        for panel, lines in curves.items()
        for label, points in lines.items()
        for n, value in zip(*points, strict=True)
    ]


def read_curves(path: Path) -> Curves:
    """Read such rows."""
    found: Curves = {}
    for (panel, label), rows in grouped(known(path), "panel", "label").items():
        x, y = np.array([(row["samples"], row["value"]) for row in rows], np.float64).T
        found.setdefault(panel, {})[label] = x, y
    return found


def keep(name: str, curves: Curves, data: Path, figures: Path) -> None:
    """Write the curves of one of `FIGURES` to its file, and draw it from there."""
    write(data / FIGURES[name][0], COLUMNS, rows_of(curves))
    redraw(name, data, figures)


def redraw(name: str, data: Path, figures: Path) -> None:
    """Draw one of `FIGURES` from its file."""
    file, how = FIGURES[name]
    draw(read_curves(data / file), figures / f"{name}.png", **how)


def draw(
    curves: Curves,
    path: Path,
    ylabel: str,
    columns: int = 3,
    panel_in: tuple[float, float] = (4.2, 3.2),
    ylim: tuple[float, float] = (-0.03, 1.05),
) -> None:
    """Panels of curves over samples on a log axis, as PNG, SVG and PDF; one legend above them.

    Args:
        curves: The curves.
        path: The PNG.
        ylabel: What the curves are.
        columns: Panels in a row, at most.
        panel_in: Size of a panel [inch].
        ylim: What the axis that goes up shows.
    """
    figure, axes = panel_grid(len(curves), columns, panel_in)
    columns = min(columns, len(curves))
    handles: Row = {}
    for axis, (panel, lines) in zip(axes, curves.items(), strict=True):
        for label, points in lines.items():
            place = [*handles, label].index(label)
            width, height = (2.8, 3.5) if label == "marl" else (1.4, 3)
            how = {"color": colour(place), "linestyle": line_style(place)}
            (handles[label],) = axis.plot(*points, linewidth=width, zorder=height, **how)
        axis.set_title(panel, fontsize=9)
        axis.set(xscale="log", ylim=ylim)
        axis.grid(alpha=0.25, linewidth=0.5)
        axis.tick_params(labelsize=8)
    figure.supxlabel("samples", fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    columns_of_legend = min(len(handles), 3 * columns)
    figure.legend(
        handles.values(), handles, loc="outside upper center", ncols=columns_of_legend, fontsize=8
    )
    save_figure(figure, path)
