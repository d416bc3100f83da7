"""Fig. 4: correlation of the parameters and their dendrogram, from three exploration policies."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.paper.effort import Effort, Output, Step
from benchmarks.paper.searches import Kept, Search, dataset_of
from common import atomic_write
from mapper.clustering import Assignment, Dataset, cluster, correlate, plots
from mapper.clustering.correlation import Correlation

POLICIES = ("random", "ga", "ppo")
MATRIX = "paper-fig4-matrix.csv"
SPACES = ("paper", "paper-10")
WAYS = (
    ("ward", "rows", False),
    ("average", "rows", False),
    ("complete", "rows", False),
    ("average", "pairs", False),
    ("complete", "pairs", False),
    ("ward", "rows", True),
)
"""Linkage, metric and whether the reward is a column; the first is the default."""
AGENTS = 6
TITLE = "mobilenetv2.2, latency, pearson"
BEST_OF_DATASET = 3_000
"""Samples behind the kept matrix: the best 15 % of 20,000."""


def plan(effort: Effort, kept: Kept | None = None) -> list[Search]:
    """The datasets of mobilenetv2.2 (the paper's), and of a layer that has filters to tile."""
    return [
        search
        for cost_model in effort.cost_models
        for space in SPACES
        for layer in effort.layers
        for policy in POLICIES
        if policy not in effort.skip
        for search in effort.of_seeds(
            layer=layer, objective="latency", method=policy, cost_model=cost_model, space=space
        )
    ]


def grown(
    data: Dataset, linkage: str = "ward", metric: str = "rows", reward: bool = False
) -> tuple[Correlation, Any]:
    """Correlation and tree of a dataset's best 15 %."""
    best, values = data.best_with_values()
    found = correlate(best, data.names, data.categorical, values=values if reward else None)
    return found, cluster(found, linkage, metric, reward)


def alike(one: Assignment, other: Assignment) -> float:
    """How alike two assignments of the same parameters are: the adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    names = sorted(one.names)
    marks = [
        [next(i for i, agent in enumerate(a.agents) if name in agent) for name in names]
        for a in (one, other)
    ]
    return float(adjusted_rand_score(*marks))


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a dataset, one a way of clustering, and the matrix that is drawn."""
    rows: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []
    drawn = False
    for search in plan(effort):
        data = dataset_of(search, kept(search))
        told = {name: getattr(search, name) for name in ("cost_model", "space", "layer", "seed")}
        told |= {"policy": search.method, "samples": search.budget}
        if int(np.isfinite(data.values).sum()) < 20:
            continue  # nothing to correlate: guarded MAESTRO refused nearly all
        found, tree = grown(data)
        rows.append({**told, **_figures(found, tree)})
        ways += [{**told, **row} for row in _ways(data, tree)]
        if not drawn and search.method == "random":
            _keep(found, output.data / MATRIX)
            draw(found, TITLE, output.figures / "fig4.png")
            drawn = True
    output.table("paper-fig4.csv", _merged(rows))
    output.table("paper-clustering.csv", _merged(ways))


def _figures(found: Correlation, tree: Any) -> dict[str, Any]:
    strength = np.abs(np.triu(found.matrix, 1))
    pairs = strength[np.triu_indices(len(found.names), 1)]
    place = {name: row for row, name in enumerate(found.names)}
    k, c = place.get("outer_tile_K"), place.get("outer_tile_C")
    together = abs(float(found.matrix[k, c])) if k is not None and c is not None else np.nan
    return {
        "median |r|": float(np.median(pairs)),
        "share below 0.2": float((pairs < 0.2).mean()),
        "K with C": together,
        "strongest |r|": float(strength.max()),
        "agents below 0.5": len(tree.assign(threshold=0.5)),
        "agents above 2.5": len(tree.assign(threshold=2.5)),
        "agents suggested": tree.suggested(),
    }


def _ways(data: Dataset, default: Any) -> list[dict[str, Any]]:
    count = min(AGENTS, len(data.names))
    rows = []
    for linkage, metric, reward in WAYS:
        tree = grown(data, linkage, metric, reward)[1]
        rows.append(
            {
                "linkage": linkage,
                "metric": metric,
                "reward": "yes" if reward else "no",
                "agents suggested": tree.suggested(),
                "alike with 6 agents": alike(tree.assign(count), default.assign(count)),
            }
        )
    return rows


def _merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means of the numbers over the seeds (and layers of the tables of ways)."""
    names = ("cost_model", "space", "policy", "linkage", "metric", "reward")
    names = names if "linkage" in rows[0] else (*names, "layer")
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    merged = []
    for key, alike_rows in groups.items():
        told = {n: v for n, v in zip(names, key, strict=True) if v is not None}
        told |= {"datasets": len(alike_rows), "samples": alike_rows[0]["samples"]}
        numbers = [n for n, v in alike_rows[0].items() if n not in (*told, "seed", "layer")]
        told |= {n: float(np.nanmean([row[n] for row in alike_rows])) for n in numbers}
        merged.append(told)
    return merged


def draw(matrix: Correlation, title: str, path: Path) -> None:
    """The matrix ordered by group, and the tree beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tree = cluster(matrix)
    agents = tree.suggested()
    plots.save(plots.heat_map(matrix, title, tree, agents), path)
    plots.save(plots.dendrogram(tree, agents, title), path.with_stem(f"{path.stem}-dendrogram"))


def _keep(matrix: Correlation, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft, draft.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("parameter", *matrix.names))
        for name, row in zip(matrix.names, matrix.matrix, strict=True):
            writer.writerow((name, *(f"{value:.5f}" for value in row)))


def read(path: Path, samples: int) -> Correlation:
    """The matrix that is kept."""
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return Correlation(tuple(header[1:]), values, "pearson", (), samples)


STEP = Step("fig4", "Fig. 4: correlation and dendrogram", plan, make)
