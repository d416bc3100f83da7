"""What the actions of some searches say: their clustering, and how the parameters evolved."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frame import Row
from benchmarks.paper.searches import (
    EVERY,
    ONE_AGENT,
    Samples,
    Search,
    choosing,
    dataset_of,
    problem_of,
)
from mapper.clustering import Assignment, Dataset, cluster, correlate
from mapper.clustering.correlation import Correlation
from mapper.explaining.evolution import explain

POLICIES = ("random", "ga", "ppo")
"""Exploration policies of Fig. 4."""
EVOLVED = "mobilenetv2.2"
"""The layer of Fig. 7."""
AGENTS = 6
FEWEST = 20
"""Feasible samples from which on parameters are correlated."""
WAYS = (
    ("ward", "rows", False),
    ("average", "rows", False),
    ("complete", "rows", False),
    ("average", "pairs", False),
    ("complete", "pairs", False),
    ("ward", "rows", True),
)
"""Linkage, metric and whether the reward is a column; the first is the default."""


def notes_of(search: Search, samples: Samples) -> Row:
    """What a search's line holds beside its values."""
    if not search.space or search.objective != "latency" or not len(samples.actions):
        return {}
    if search.method in POLICIES:
        return _clustering(search, samples)
    if search.layer == EVOLVED and search.method in (EVERY, ONE_AGENT):
        return _evolution(search, samples)
    return {}


def _clustering(search: Search, samples: Samples) -> Row:
    """Fig. 4, and the agents that the dataset suggests."""
    data = dataset_of(search, samples)
    if int(np.isfinite(data.values).sum()) < FEWEST:
        return {}  # nothing to correlate: guarded MAESTRO refused nearly all
    found, tree = grown(data)
    count = min(AGENTS, len(data.names))
    notes: Row = {"fig4": _figures(found, tree)}
    notes["agents"] = [list(agent) for agent in tree.assign(count).agents]
    notes["ways"] = []
    for linkage, metric, reward in WAYS:
        other = grown(data, linkage, metric, reward)[1]
        similar = alike(other.assign(count), tree.assign(count))
        notes["ways"].append([other.suggested(), round(similar, 4)])
    if search.seed == 0 and search.method == "random":
        upper = found.matrix[np.triu_indices(len(found.names), 1)]
        notes["names"], notes["matrix"] = list(found.names), [round(float(r), 4) for r in upper]
    return notes


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


def _figures(found: Correlation, tree: Any) -> Row:
    strength = np.abs(found.matrix)
    pairs = strength[np.triu_indices(len(found.names), 1)]
    place = {name: row for row, name in enumerate(found.names)}
    k, c = place.get("outer_tile_K"), place.get("outer_tile_C")
    together = [float(strength[k, c])] if k is not None and c is not None else []
    return {
        "median abs r": round(float(np.median(pairs)), 5),
        "share below 0.2": round(float((pairs < 0.2).mean()), 5),
        "K with C": [round(one, 5) for one in together],
        "strongest abs r": round(float(pairs.max()), 5),
        "agents below 0.5": len(tree.assign(threshold=0.5)),
        "agents above 2.5": len(tree.assign(threshold=2.5)),
        "agents suggested": tree.suggested(),
    }


def _evolution(search: Search, samples: Samples) -> Row:
    """Fig. 7."""
    problem = problem_of(search)
    single = Assignment.single(choosing(problem))
    one = explain(problem, samples.actions.astype(np.int64), samples.values, single)
    notes = {"names": list(one.names), "settled": float(np.median(one.settled))}
    notes |= {"ends": one.best[-1].tolist(), "steps": one.steps.tolist()}
    return {**notes, "typical": np.round(np.nan_to_num(one.typical, nan=-1.0), 4).tolist()}
