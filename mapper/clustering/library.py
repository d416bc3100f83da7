"""Assignments shipped with the package, and the one of the layer nearest to a given one.

Each file holds the dendrogram of one zoo layer, so that any agent budget can be cut from it.
`python -m benchmarks build_assignments` makes the files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cost_models import Accelerator
from layers import Layer
from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.tree import ClusterTree
from marl_common import write_text

_KIND_APART = 8.0
_LIMITS_APART = 4.0
"""Distance between two kinds of layer, and between a limited and an unlimited accelerator, beside
the Euclidean distance of log2 extents."""


@dataclass(frozen=True)
class StoredTree:
    """One file of the library.

    Args:
        tree: The dendrogram.
        agents: The agent budget that the dendrogram suggests.
        kind: Kind of the layer.
        extents: Its extents K C Y X R S; N and G, where they are left out, are 1.
        limited: Whether the accelerator had limited buffers.
        source: Layer, accelerator, objective, policy and samples it came from.
    """

    tree: ClusterTree
    agents: int
    kind: str
    extents: tuple[int, ...]
    limited: bool
    source: dict[str, Any]

    def distance(self, layer: Layer, accelerator: Accelerator) -> float:
        """How unlike a layer and accelerator are to these."""
        apart = sum(
            (math.log2(a) - math.log2(b)) ** 2
            for a, b in zip_longest(self.extents, layer.extents, fillvalue=1)
        )
        kind = 0.0 if self.kind == layer.kind.value else _KIND_APART
        limits = 0.0 if self.limited == is_limited(accelerator) else _LIMITS_APART
        return math.sqrt(apart) + kind + limits

    def assign(self, names: Sequence[str], agents: int | None = None) -> Assignment:
        """The assignment for a layer's parameters.

        Args:
            names: The layer's parameters with more than one choice; others are left out.
            agents: The budget, 1..P; None for the stored one.

        Raises:
            AssignmentError: The budget is not in 1..P.
        """
        if agents is not None and not 1 <= agents <= len(names):
            raise AssignmentError(
                f"agents: got {agents}, expected 1..{len(names)}: "
                "at least one agent, at most one a parameter"
            )
        wanted = self.agents if agents is None else agents
        # a parameter the stored layer lacks is an agent of its own; one this layer lacks goes
        # away: so cut the stored tree where the fitted assignment has the budget
        best: Assignment | None = None
        for cut in range(1, len(self.tree.names) + 1):
            fitted = self.tree.assign(cut).fit(names)
            if best is None or abs(len(fitted) - wanted) < abs(len(best) - wanted):
                best = fitted
        assert best is not None
        if agents is not None:
            best = resized(best, agents)
        return Assignment(best.agents, {**self.source, "agents": len(best)})


def nearest_layer(layer: Layer, accelerator: Accelerator) -> StoredTree:
    """The stored dendrogram of the most similar layer and accelerator."""
    return min(stored(), key=lambda entry: entry.distance(layer, accelerator))


@cache
def stored() -> tuple[StoredTree, ...]:
    """Every file of the library, by name."""
    folder = resources.files("mapper.clustering") / "assignments"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    # libyaml reads these ten times as fast as PyYAML's own code, and every search reads them all.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return tuple(_read(yaml.load(f.read_text(encoding="utf-8"), Loader=loader)) for f in files)


def write(
    path: Path,
    tree: ClusterTree,
    layer: Layer,
    accelerator: Accelerator,
    source: dict[str, Any],
) -> None:
    """Write a file of the library; it is whole or untouched."""
    data = {
        "source": source,
        "kind": layer.kind.value,
        "extents": list(layer.extents),
        "limited": is_limited(accelerator),
        "agents": tree.suggested(),
        "names": list(tree.names),
        "links": [[int(a), int(b), round(float(d), 4), int(n)] for a, b, d, n in tree.links],
    }
    write_text(path, yaml.safe_dump(data, sort_keys=False, default_flow_style=None))


def is_limited(accelerator: Accelerator) -> bool:
    """Whether the accelerator's buffers are limited."""
    return accelerator.l1_bytes is not None or accelerator.l2_bytes is not None


def _read(data: dict[str, Any]) -> StoredTree:
    tree = ClusterTree(tuple(data["names"]), np.array(data["links"], dtype=np.float64))
    return StoredTree(
        tree,
        int(data["agents"]),
        str(data["kind"]),
        tuple(int(extent) for extent in data["extents"]),
        bool(data["limited"]),
        dict(data["source"]),
    )


def resized(assignment: Assignment, agents: int) -> Assignment:
    """The assignment with its largest agents split, or smallest joined, until there are so many."""
    groups = [list(agent) for agent in assignment.agents]
    while len(groups) < agents:
        largest = max(groups, key=len)
        groups.append([largest.pop()])
    while len(groups) > agents:
        smallest = min(groups, key=len)
        groups.remove(smallest)
        min(groups, key=len).extend(smallest)
    return Assignment(tuple(tuple(group) for group in groups))
