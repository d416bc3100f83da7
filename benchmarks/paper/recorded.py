"""What the figures share: recorded searches, mean returns and tables."""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy import stats

import baselines
from common import FloatArray, atomic_write
from maestro_env import Problem
from runs import colour, line_style, new_figure, save_figure

PAPER = "marl:mode=paper"
"""The paper's method as printed: every agent chooses anew in each sample."""

LAST = 500
"""Samples at the end of a run over which its last mean return is taken."""
CHOICE = "mean choice, first (0) to last (1)"
"""What Fig. 7 shows of a parameter."""
SMALL_IN = (3.0, 1.8)
"""A panel of Fig. 7."""


@dataclass(frozen=True)
class Recorded:
    """One search with the value of every sample."""

    label: str
    actions: np.ndarray
    values: np.ndarray
    seconds: float

    @property
    def best(self) -> float:
        """Lowest value."""
        return float(self.values.min())


def record(
    label: str, problem: Problem, method: str, budget: int, seed: int, kept: Path | None = None
) -> Recorded:
    """Run ``name:option=value``, keeping all samples.

    With a folder `kept`, a finished search is a file there, and is read instead of run.
    """
    if kept is None:
        return _searched(label, problem, method, budget, seed)
    whole = json.dumps([problem.describe(), method, budget, seed], sort_keys=True)
    path = kept / f"{hashlib.sha256(whole.encode()).hexdigest()[:20]}.npz"
    if not path.exists():
        run = _searched(label, problem, method, budget, seed)
        kept.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, actions=run.actions, values=run.values, seconds=run.seconds)
    with np.load(path) as file:
        return Recorded(label, file["actions"], file["values"], float(file["seconds"]))


def _searched(label: str, problem: Problem, method: str, budget: int, seed: int) -> Recorded:
    name, *pairs = method.split(":")
    options = {key: yaml.safe_load(value) for key, value in (p.split("=") for p in pairs)}
    actions, values = [], []

    def keep(batch: np.ndarray, evaluation: Any) -> None:
        actions.append(batch.copy())
        values.append(evaluation.values.copy())

    problem.on_evaluate = keep
    begin = time.process_time()
    baselines.load(name, **options).search(problem, budget, seed)
    seconds = time.process_time() - begin
    problem.on_evaluate = None
    return Recorded(label, np.concatenate(actions), np.concatenate(values), seconds)


def windows(budget: int, count: int = 24) -> np.ndarray:
    """Ends of windows of samples, evenly spaced on a log axis."""
    return np.unique(np.geomspace(min(64, budget), budget, count).round().astype(int))


def mean_return(run: Recorded, reference: float, ends: np.ndarray) -> np.ndarray:
    """Mean of reference / value over each window, 0 for an infeasible sample."""
    with np.errstate(invalid="ignore"):
        returns = np.where(np.isfinite(run.values), reference / run.values, 0.0)
    begins = [0, *ends[:-1]]
    parts = [returns[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return np.array([part.mean() if len(part) else np.nan for part in parts])


def last_return(run: Recorded, reference: float) -> float:
    """Mean return of a run's last samples."""
    ends = np.array([max(0, len(run.values) - LAST), len(run.values)])
    return float(mean_return(run, reference, ends)[-1])


def spread(values: list[float]) -> tuple[float, float]:
    """Mean over seeds, and half of its 95 % interval (Student's t); inf for fewer than two."""
    if len(values) < 2:
        return float(np.mean(values)), np.inf
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)), float(half)


def arrival(returns: np.ndarray, ends: np.ndarray, level: float) -> float:
    """Samples at the end of the first window whose mean return reaches a level; inf if none."""
    there = np.flatnonzero(returns >= level)
    return float(ends[there[0]]) if len(there) else np.inf


def arrival_of_best(run: Recorded, value: float) -> float:
    """The first sample at or below a value; inf if none."""
    there = np.flatnonzero(run.values <= value)
    return float(there[0] + 1) if len(there) else np.inf


def parser(text: str | None, budget: int = 20_000) -> argparse.ArgumentParser:
    """Options that every figure takes."""
    result = argparse.ArgumentParser(description=text)
    result.add_argument("--budget", type=int, default=budget)
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--cost-model", default="exact")
    result.add_argument("--accelerator", default="archgym")
    result.add_argument("--out", type=Path, default=Path("figures"))
    result.add_argument("--json", action="store_true", help="print the rows as JSON")
    result.add_argument("--csv", type=Path, help="write the rows there too")
    result.add_argument("--data", type=Path, help="keep there what the figure is drawn from")
    result.add_argument("--runs", type=Path, help="keep finished searches there, and go on")
    return result


def show(rows: list[dict[str, Any]], as_json: bool, path: Path | None = None) -> None:
    """Print rows as JSON or as a Markdown table, and write them to a CSV file."""
    if path is not None:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
        print("| " + " | ".join(cells) + " |")


Curves = dict[str, dict[str, tuple[FloatArray, FloatArray]]]
"""``curves[panel][label] = (samples, values)``."""


def keep_curves(curves: Curves, path: Path) -> None:
    """Write what a figure is drawn from to a CSV file: a line a point."""
    with atomic_write(path) as draft, draft.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("panel", "label", "samples", "value"))
        for panel, lines in curves.items():
            for label, (x, y) in lines.items():
                rows = zip(x, y, strict=True)
                writer.writerows((panel, label, int(n), f"{value:.5g}") for n, value in rows)


def read_curves(path: Path) -> Curves:
    """Read what :func:`keep_curves` wrote."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            point = (float(row["samples"]), float(row["value"]))
            found.setdefault(row["panel"], {}).setdefault(row["label"], []).append(point)
    return {
        panel: {label: _columns(points) for label, points in lines.items()}
        for panel, lines in found.items()
    }


def _columns(points: list[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    x, y = np.array(points).T
    return x, y


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
    columns = min(columns, len(curves))
    rows = -(-len(curves) // columns)
    figure = new_figure(panel_in[0] * columns, panel_in[1] * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    places: dict[str, int] = {}
    handles: dict[str, Any] = {}
    for axis, (panel, lines) in zip(axes, curves.items(), strict=False):
        for label, (x, y) in lines.items():
            place = places.setdefault(label, len(places))
            ours = label == "marl"
            (handles[label],) = axis.plot(
                x,
                y,
                color=colour(place),
                linestyle=line_style(place),
                linewidth=2.8 if ours else 1.4,
                zorder=3.5 if ours else 3,
            )
        axis.set_title(panel, fontsize=9)
        axis.set(xscale="log", ylim=ylim)
        axis.grid(alpha=0.25, linewidth=0.5)
        axis.tick_params(labelsize=8)
    for extra in axes[len(curves) :]:
        extra.set_axis_off()
    figure.supxlabel("samples", fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    columns_of_legend = min(len(handles), 3 * columns)
    figure.legend(
        handles.values(), handles, loc="outside upper center", ncols=columns_of_legend, fontsize=8
    )
    save_figure(figure, path)
