"""The table of docs/pretrained.md: how far above the optimum the best of so many samples is.

    python benchmarks/pretrained_table.py docs/data/pretrained-in-range*.csv --csv FILE

Files are those of ``pretrained_cases.py``; a row a file and number of samples.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import marl_cases
import methods_table
import numpy as np
from pretrained_cases import COUNTS


def rows_of(path: Path) -> list[dict[str, Any]]:
    """A row a number of samples."""
    with path.open(newline="", encoding="utf-8") as file:
        cases = list(csv.DictReader(file))
    rows = []
    for count in COUNTS:
        given = [float(case[f"best_of_{count}"]) for case in cases if case[f"best_of_{count}"]]
        ratios = np.array(given)
        rows.append(
            {
                "file": path.stem,
                "best of": count,
                "cases": len(ratios),
                "proven": sum(case["reference"] == "optimal" for case in cases),
                "median": float(np.median(ratios)),
                "90th percentile": float(np.quantile(ratios, 0.9, method="higher")),
                "within 5 %": 100 * float(np.mean(ratios <= 1.05)),
                "within 15 %": 100 * float(np.mean(ratios <= 1.15)),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    rows = [row for path in given.files for row in rows_of(path)]
    marl_cases.show(rows)
    if given.csv:
        methods_table.write(rows, given.csv)


if __name__ == "__main__":
    main()
