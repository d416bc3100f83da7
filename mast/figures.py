"""Figures: returns against steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marl_runs import Line, Store, grouped, mean_line, panel_figure, save_figure
from mast.config import MastConfig
from mast.errors import MastError

Points = dict[int, float]
"""Step -> return of a run."""
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
            if (line := mean_line(alike)) is not None:
                curves.setdefault(title, {})[label] = line
    return curves


def draw_curves(curves: Mapping[str, Mapping[str, Line]], path: Path) -> list[Path]:
    """Draw a panel a task and algorithm; returns the files.

    Raises:
        MastError: There is nothing to draw.
        FigureError: matplotlib is not installed.
    """
    if not curves:
        raise MastError("no evaluated runs to draw; run `mast train` with this store first.")
    return save_figure(panel_figure(curves, "steps", "return of greedy episodes"), path)
