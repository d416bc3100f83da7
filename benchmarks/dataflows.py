"""How far the hand mappings of the named dataflows are above the proven optimum.

    python -m benchmarks dataflows   # 30 layers x 3 chips: docs/data/dataflows.csv, and a picture

The optimum is that of the default space, from the library of optima; where a proof was stopped, the
best value known is the reference, and the table says how far from the optimum that may be. The
row-stationary mapping tiles filters, which the default space does not: it may be below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import baselines
from baselines import known_optimum, prove
from benchmarks.frame import Row, Table, grouped, show
from maestro_env import DATAFLOWS, Problem
from marl_runs import colour, geometric_mean, panel_grid, save_figure

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "figures" / "dataflows.png"
CHIPS = ("edge", "cloud", "archgym")
LAYERS = (
    *(f"mobilenetv2.{n}" for n in (0, 1, 2, 4, 7, 13, 20, 32, 43, 52)),
    *(f"resnet18.{n}" for n in (0, 1, 5, 7, 12, 17, 20)),
    *(f"vgg16.{n}" for n in (1, 4, 8, 11, 13)),
    *(f"alexnet.{n}" for n in (0, 1, 2)),
    *(f"bert_base.{n}" for n in (0, 3, 4, 6)),
    "gpt2.1",
)


def row_of(given: Any, chip: str, layer: str) -> tuple[str, ...]:
    """The reference of a layer on a chip, and each dataflow's value over it."""
    known = known_optimum(Problem(layer, chip))
    found = prove(Problem(layer, chip), timeout=given.timeout) if known is None else known
    gap = max(0.0, found.value / found.bound - 1.0)
    values = []
    for dataflow in DATAFLOWS:
        narrow = Problem(layer, chip, space={"dataflow": dataflow})
        values.append(baselines.load("expert", dataflow=dataflow).search(narrow, 20, 0).best_value)
    return f"{found.value:.8g}", f"{gap:.4f}", *(f"{v / found.value:.4f}" for v in values)


def summary(found: list[Row]) -> Iterator[Row]:
    """Geometric means by chip."""
    for chip, here in grouped(found, "chip").items():
        means = {name: geometric_mean([row[name] for row in here]) for name in DATAFLOWS}
        best = geometric_mean([min(row[name] for name in DATAFLOWS) for row in here])
        yield {"chip": chip, **means, "best of all": best}


def draw(found: list[Row]) -> None:
    """A strip of dots for each dataflow and chip, with its geometric mean."""
    figure, panels = panel_grid(len(CHIPS), len(CHIPS), (3.0, 3.6), sharey=True)
    for axis, chip in zip(panels, CHIPS, strict=True):
        here = [row for row in found if row["chip"] == chip]
        for place, name in enumerate(DATAFLOWS):
            values = sorted(row[name] for row in here)
            spread = [place + 0.5 * (i / max(len(values) - 1, 1) - 0.5) for i in range(len(values))]
            axis.plot(spread, values, "o", color=colour(0), markersize=3, alpha=0.6)
            mean = geometric_mean(values)
            axis.plot([place - 0.35, place + 0.35], [mean, mean], color=colour(1), linewidth=2)
        axis.axhline(1.0, color="0.2", linewidth=1)
        axis.set(yscale="log", title=chip)
        axis.set_xticks(range(len(DATAFLOWS)), list(DATAFLOWS), rotation=60, fontsize=8)
        axis.grid(alpha=0.25, axis="y")
    panels[0].set_ylabel("EDP / proven optimum")
    figure.suptitle(
        "Hand mappings of named dataflows, 30 layers (bar: geometric mean)", fontsize=10
    )
    save_figure(figure, PICTURE)


def told(rows: list[Row], given: Any) -> None:
    """Draw, and print means by chip."""
    names = ("reference", "gap", *DATAFLOWS)
    found = [row | {name: float(row[name]) for name in names} for row in rows]
    if not given.quick:
        draw(found)
    show(list(summary(found)))
    if unproven := [row["gap"] for row in found if row["gap"] > 1e-9]:
        print(f"{len(unproven)} of {len(found)} references are not proven, "
              f"at most {max(unproven):.1%} above")  # fmt: skip
    feasible = sum(math.isfinite(row[d]) for row in found for d in DATAFLOWS)
    print(f"{feasible} hand mappings feasible")


TABLE = Table(
    __doc__,
    ("chip", "layer", "reference", "gap", *DATAFLOWS),
    lambda _: product(CHIPS, LAYERS),
    row_of,
    "dataflows.csv",
    {"timeout": (30.0, "of proofs not in the library")},
    told=told,
)
