"""How far the hand mappings of the named dataflows are above the proven optimum.

    python benchmarks/dataflows.py   # 30 layers x 3 chips: docs/data/dataflows.csv, and a picture

The optimum is that of the default space, from the library of optima; where a proof was stopped, the
best value known is the reference, and the table says how far from the optimum that may be. The
row-stationary mapping tiles filters, which the default space does not: it may be below.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path
from typing import Any

import baselines
from baselines import known_optimum, prove
from maestro_env import DATAFLOWS, Problem
from marl_common import atomic_write
from marl_runs import colour, geometric_mean, new_figure, save_figure

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data" / "dataflows.csv"
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


def rows(timeout: float) -> list[dict[str, Any]]:
    """One row a layer and chip: the reference, and each dataflow's value over it."""
    found = []
    for chip in CHIPS:
        for name in LAYERS:
            problem = Problem(name, chip)
            known = known_optimum(problem)
            if known is None:
                proof = prove(problem, timeout=timeout)
                reference, bound = proof.value, proof.bound
            else:
                reference, bound = known.value, known.bound
            row: dict[str, Any] = {
                "chip": chip,
                "layer": name,
                "reference": reference,
                "gap": max(0.0, reference / bound - 1.0),
            }
            for dataflow in DATAFLOWS:
                narrow = Problem(name, chip, space={"dataflow": dataflow})
                best = baselines.load("expert", dataflow=dataflow).search(narrow, 20, 0).best_value
                row[dataflow] = best / reference
            found.append(row)
            print(chip, name, *(f"{d} {row[d]:.2f}" for d in DATAFLOWS), flush=True)
    return found


def write(found: list[dict[str, Any]]) -> None:
    """The table as CSV."""
    DATA.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(DATA) as draft, open(draft, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(found[0]), lineterminator="\n")
        writer.writeheader()
        for row in found:
            ratios = {name: f"{row[name]:.4f}" for name in ("gap", *DATAFLOWS)}
            writer.writerow(row | {"reference": f"{row['reference']:.8g}"} | ratios)


def kept() -> list[dict[str, Any]]:
    """The table that the file holds."""
    with DATA.open(encoding="utf-8", newline="") as stream:
        return [
            {name: text if name in ("chip", "layer") else float(text) for name, text in row.items()}
            for row in csv.DictReader(stream)
        ]


def summary(found: list[dict[str, Any]]) -> str:
    """Geometric means by chip, as Markdown."""
    columns = [*DATAFLOWS, "best of all"]
    lines = ["| chip | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for chip in CHIPS:
        here = [row for row in found if row["chip"] == chip]
        means = [geometric_mean([row[name] for row in here]) for name in DATAFLOWS]
        means.append(geometric_mean([min(row[name] for name in DATAFLOWS) for row in here]))
        lines.append(f"| {chip} | " + " | ".join(f"{mean:.2f}x" for mean in means) + " |")
    return "\n".join(lines)


def draw(found: list[dict[str, Any]]) -> None:
    """A strip of dots for each dataflow and chip, with its geometric mean."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, len(CHIPS), sharey=True)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timeout", type=float, default=30.0, help="of proofs not in the library")
    parser.add_argument("--no-run", action="store_true", help="only draw what the file holds")
    arguments = parser.parse_args()
    assert len(LAYERS) == 30
    found = kept() if arguments.no_run else rows(arguments.timeout)
    if not arguments.no_run:
        write(found)
    draw(found)
    print(summary(found))
    unproven = [row for row in found if row["gap"] > 1e-9]
    if unproven:
        worst = max(row["gap"] for row in unproven)
        print(
            f"{len(unproven)} of {len(found)} references are not proven, at most {worst:.1%} above"
        )
    print(
        f"{sum(math.isfinite(row[d]) for row in found for d in DATAFLOWS)} hand mappings feasible"
    )


if __name__ == "__main__":
    main()
