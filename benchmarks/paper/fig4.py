"""Fig. 4: correlation of the parameters and their dendrogram, mobilenetv2 layer 2, latency.

python benchmarks/paper/fig4.py --out figures
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
import recorded

from common import atomic_write
from maestro_env import Problem
from mapper.clustering import METHODS, cluster, collect, correlate, plots
from mapper.clustering.correlation import Correlation

SHOWN = "pearson"
"""The correlation that docs show."""
MATRIX = "paper-fig4-matrix.csv"


def draw(matrix: Correlation, title: str, path: Path) -> None:
    """The matrix ordered by group, and the tree beside it."""
    tree = cluster(matrix)
    agents = tree.suggested()
    plots.save(plots.heat_map(matrix, title, tree, agents), path)
    plots.save(plots.dendrogram(tree, agents, title), path.with_stem(f"{path.stem}-dendrogram"))


def keep(matrix: Correlation, path: Path) -> None:
    """Write the matrix to a CSV file."""
    with atomic_write(path) as draft, draft.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("parameter", *matrix.names))
        for name, row in zip(matrix.names, matrix.matrix, strict=True):
            writer.writerow((name, *(f"{value:.5f}" for value in row)))


def read(path: Path, samples: int) -> Correlation:
    """Read what :func:`keep` wrote."""
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return Correlation(tuple(header[1:]), values, SHOWN, (), samples)


def main() -> None:
    parser = recorded.parser(__doc__)
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--objective", default="latency")
    parser.add_argument("--policy", default="random")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    problem = Problem(
        arguments.layer, arguments.accelerator, arguments.objective, arguments.cost_model
    )
    rows = []
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        rows += of_seed(arguments, problem, seed)
    recorded.show(rows, arguments.json, arguments.csv)


def of_seed(arguments: argparse.Namespace, problem: Problem, seed: int) -> list[dict[str, Any]]:
    """A row a correlation; the pictures are of the first seed."""
    data = collect(problem, arguments.policy, arguments.budget, seed)
    data = data.choosing(problem.space.nvec > 1)
    best = data.best(15.0)
    rows = []
    for method in METHODS:
        matrix = correlate(best, data.names, data.categorical, method)
        tree = cluster(matrix)
        strength = np.abs(np.triu(matrix.matrix, 1))
        i, j = np.unravel_index(int(np.argmax(strength)), strength.shape)
        place = {name: row for row, name in enumerate(data.names)}
        pairs = strength[np.triu_indices(len(data.names), 1)]
        rows.append(
            {
                "correlation": method,
                "seed": seed,
                "median |r|": float(np.median(pairs)),
                "share of |r| below 0.2": float((pairs < 0.2).mean()),
                "outer K with outer C": abs(
                    float(matrix.matrix[place["outer_tile_K"], place["outer_tile_C"]])
                ),
                "strongest pair": f"{data.names[i]}, {data.names[j]}",
                "its |r|": float(strength[i, j]),
                "agents below 0.5": len(tree.assign(threshold=0.5)),
                "agents above 2.5": len(tree.assign(threshold=2.5)),
                "agents suggested": tree.suggested(),
            }
        )
        if seed != arguments.seed:
            continue
        title = f"{arguments.layer}, {arguments.objective}, {method}"
        draw(matrix, title, arguments.out / f"fig4-{method}.png")
        if arguments.data and method == SHOWN:
            keep(matrix, arguments.data / MATRIX)
    return rows


if __name__ == "__main__":
    main()
