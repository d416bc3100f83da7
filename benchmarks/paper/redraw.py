"""Draw the figures of docs/figures again from the files of docs/data, without a search.

python benchmarks/paper/redraw.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import fig4
import recorded
import table3_curves

ROOT = Path(__file__).resolve().parents[2]
BEST = 3_000
"""Samples behind the stored matrix: the best 15 % of 20,000."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "docs" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures")
    arguments = parser.parse_args()
    data, out = arguments.data, arguments.out
    matrix = fig4.read(data / fig4.MATRIX, BEST)
    fig4.draw(matrix, f"mobilenetv2.2, latency, {fig4.SHOWN}", out / "fig4.png")
    for name, columns in (("fig5", 2), ("fig6", 2)):
        curves = recorded.read_curves(data / f"paper-{name}-curves.csv")
        recorded.draw(curves, out / f"{name}.png", "mean return", columns)
    curves = recorded.read_curves(data / "paper-fig7-curves.csv")
    recorded.draw(curves, out / "fig7.png", recorded.CHOICE, 4, recorded.SMALL_IN)
    curves = recorded.read_curves(data / table3_curves.FILE)
    title = "best EDP so far over the proven optimum, median of seeds"
    recorded.draw(curves, out / "table3-edp.png", title, 4, (3.2, 2.6), table3_curves.YLIM)


if __name__ == "__main__":
    main()
