"""Fig. 4: correlation of the parameters and their dendrogram, from three exploration policies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.frame import Row, grouped, write
from benchmarks.paper.effort import Effort, Output, Step
from benchmarks.paper.found import Kept
from benchmarks.paper.searches import POLICIES, WAYS, Search
from mapper.clustering import plots
from mapper.clustering.correlation import Correlation
from mapper.clustering.tree import cluster

MATRIX = "paper-fig4-matrix.csv"
SPACES = ("paper", "paper-10")
TITLE = "mobilenetv2.2, latency, pearson"


def plan(effort: Effort, kept: Kept | None = None) -> list[list[Search]]:
    """The datasets of mobilenetv2.2 (the paper's), and of layers that have filters to tile."""
    return [
        effort.of_seeds(
            layer=layer, objective="latency", method=policy, cost_model=cost_model, space=space
        )
        for cost_model, policy, space, layer in product(
            effort.cost_models, POLICIES, SPACES, effort.layers
        )
        if policy not in effort.skip
    ]


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write a row a dataset, one a way of clustering, and the matrix that is drawn."""
    rows: list[Row] = []
    ways: list[Row] = []
    known = [one for some in plan(effort) for one in some
             if one in kept and "fig4" in kept(one).notes]  # fmt: skip
    for search in known:
        notes = kept(search).notes
        told = {name: getattr(search, name) for name in ("cost_model", "space", "layer")}
        told |= {"policy": search.method, "samples": search.budget}
        together = notes["fig4"]["K with C"]
        rows.append({**told, **notes["fig4"], "K with C": together[0] if together else np.nan})
        ways += [{**told, **way} for way in _ways(notes)]
    if rows:
        names = ("cost_model", "space", "policy")
        output.table("paper-fig4.csv", [*_merged(rows, (*names, "layer"))])
        names = (*names, "linkage", "metric", "reward")
        output.table("paper-clustering.csv", [*_merged(ways, names)])
    for search in [one for one in known if "matrix" in kept(one).notes][:1]:
        matrix = _matrix(kept(search).notes, search.budget)
        _keep(matrix, output.data / MATRIX)
        draw(matrix, TITLE, output.figures / "fig4.png")


def _ways(notes: Row) -> Iterator[Row]:
    for (*way, reward), found in zip(WAYS, notes["ways"], strict=True):
        told = dict(zip(("linkage", "metric"), way, strict=True))
        told["reward"] = "yes" if reward else "no"
        yield told | dict(zip(("agents suggested", "alike with 6 agents"), found, strict=True))


def _matrix(notes: Row, samples: int) -> Correlation:
    names = tuple(notes["names"])
    matrix = np.eye(len(names))
    upper = np.triu_indices(len(names), 1)
    matrix[upper] = notes["matrix"]
    matrix.T[upper] = notes["matrix"]
    return Correlation(names, matrix, "pearson", (), samples)


def _merged(rows: list[Row], names: tuple[str, ...]) -> Iterator[Row]:
    """Means of the numbers over the seeds (and layers of the tables of ways)."""
    for key, alike in grouped(rows, *names).items():
        told = dict(zip(names, key, strict=True))
        told |= {"datasets": len(alike), "samples": alike[0]["samples"]}
        for name in (n for n in alike[0] if n not in told and n != "layer"):
            values = [row[name] for row in alike if not np.isnan(row[name])]
            told[name] = float(np.mean(values)) if values else ""
        yield told


def draw(matrix: Correlation, title: str, path: Path) -> None:
    """The matrix ordered by group, and the tree beside it."""
    tree = cluster(matrix)
    agents = tree.suggested()
    plots.save(plots.heat_map(matrix, title, tree, agents), path)
    plots.save(plots.dendrogram(tree, agents, title), path.with_stem(f"{path.stem}-dendrogram"))


def _keep(matrix: Correlation, path: Path) -> None:
    rows = [
        {"parameter": name} | dict(zip(matrix.names, (f"{r:.5f}" for r in row), strict=True))
        for name, row in zip(matrix.names, matrix.matrix, strict=True)
    ]
    write(path, rows[0], rows)


STEP = Step("fig4", "Fig. 4: correlation and dendrogram", plan, make)
