"""Learning curves against tokens, counted operations and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marl_runs import (
    Line,
    draw_lines,
    grouped,
    mean_interval,
    panel_grid,
    save_figure,
    writable,
)
from mst.comparing import BY, Curve
from mst.errors import MstError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGER = 8
"""Runs of which one is so many times longer than another are drawn against a logarithm."""
LABELS = {"tokens": "tokens", "flops": "counted FLOPs", "seconds": "processor time [s]"}


def mean_curve(curves: Sequence[Curve], by: str) -> Line:
    """What was used, mean bits per byte over seeds, and half width of its interval.

    Args:
        curves: Runs of one arm; points that all have are taken.
        by: See :data:`mst.comparing.BY`.
    """
    points = min(len(curve.tokens) for curve in curves)
    used = np.mean([curve.along(by)[:points] for curve in curves], axis=0)
    mean, half = mean_interval(np.array([curve.bits[:points] for curve in curves]))
    return used, mean, np.nan_to_num(half)


def draw_curves(curves: Sequence[Curve], folder: Path, name: str = "mst") -> list[Path]:
    """Write ``mst.png``, SVG and PDF: one panel each by tokens, operations and seconds.

    Raises:
        MstError: There is no curve.
    """
    if not curves:
        raise MstError("no runs to draw; run `mst train` with this store first")
    writable(folder)
    return save_figure(_figure(curves), folder / f"{name}.png")


def _figure(curves: Sequence[Curve]) -> Figure:
    figure, panels = panel_grid(len(BY), len(BY), (4, 4), sharey=True)
    groups = grouped((curve.arm, curve.settings, curve) for curve in curves)
    handles: dict[str, Any] = {}
    for axes, by in zip(panels, BY, strict=True):
        lines = {label: mean_curve(own, by) for label, own in groups.items()}
        handles |= draw_lines(axes, lines, list(groups))
        axes.set_xlabel(LABELS[by])
        _scale(axes, [used[-1] for used, _, _ in lines.values()])
    figure.axes[0].set_ylabel("bits per byte, held-out files")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def _scale(axes: Any, ends: Sequence[float]) -> None:
    """A logarithm where runs are of very different lengths."""
    from matplotlib.ticker import EngFormatter

    if max(ends) > LONGER * min(ends):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(EngFormatter())
