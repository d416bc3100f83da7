"""Agglomerative clustering of parameters, and the agent budget that the dendrogram suggests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.correlation import ClusteringError, Correlation
from marl_common import FloatArray

UNRELATED = 2.0**0.5
"""Distance of two parameters that correlate with nothing."""

LINKAGES = ("ward", "average", "complete", "single")
METRICS = ("rows", "pairs")
"""Distances of two parameters: of their rows of |r|, or 1 - |r| of the pair alone."""
UNRELATED_PAIR = 1.0


@dataclass(frozen=True)
class ClusterTree:
    """A dendrogram over parameters.

    Args:
        names: The `P` parameters (the leaves, in order).
        links: SciPy's ``(P - 1, 4)`` linkage matrix; column 2 is the distance of each merge.
        metric: One of `METRICS`.
    """

    names: tuple[str, ...]
    links: FloatArray
    metric: str = "rows"

    def assign(
        self, agents: int | None = None, threshold: float | None = None, **source: Any
    ) -> Assignment:
        """Cut the tree into `agents` clusters, or at a distance; with neither, at `suggested()`.

        Raises:
            AssignmentError: Both are given, or `agents` is not in 1..P, or `threshold` < 0.
        """
        if agents is not None and threshold is not None:
            raise AssignmentError("give an agent budget or a distance threshold, not both")
        if threshold is not None:
            if threshold < 0:
                raise AssignmentError(f"threshold: got {threshold}, expected at least 0")
            agents = 1 + int((self.links[:, 2] > threshold).sum())
        if agents is None:
            agents = self.suggested()
        if not 1 <= agents <= len(self.names):
            raise AssignmentError(
                f"agents: got {agents}, expected 1..{len(self.names)} (one a parameter at most)"
            )
        return Assignment(self._cut(agents), {**source, "agents": agents})

    def _cut(self, agents: int) -> tuple[tuple[str, ...], ...]:
        """The clusters left after the first ``P - agents`` merges, in order of their first leaf."""
        count = len(self.names)
        members: dict[int, list[int]] = {leaf: [leaf] for leaf in range(count)}
        for step in range(count - agents):
            left, right = int(self.links[step, 0]), int(self.links[step, 1])
            members[count + step] = members.pop(left) + members.pop(right)
        groups = sorted(sorted(leaves) for leaves in members.values())
        return tuple(tuple(self.names[leaf] for leaf in leaves) for leaves in groups)

    def groups(self, agents: int | None = None) -> tuple[tuple[str, ...], ...]:
        """The clusters of a cut, those that are near each other in the tree side by side.

        Args:
            agents: How many; None for `suggested()`.
        """
        from scipy.cluster.hierarchy import leaves_list

        place = {self.names[leaf]: i for i, leaf in enumerate(leaves_list(self.links))}
        found = self._cut(self.suggested() if agents is None else agents)
        inside = [tuple(sorted(group, key=place.__getitem__)) for group in found]
        return tuple(sorted(inside, key=lambda group: place[group[0]]))

    def suggested(self) -> int:
        """The agent budget: only what is nearer than two unrelated parameters is joined.

        Two parameters that correlate with nothing have the rows (1, 0, ...) and (0, 1, ...), which
        are sqrt(2) apart; by their pair alone they are 1 apart.
        """
        apart = UNRELATED if self.metric == "rows" else UNRELATED_PAIR
        return 1 + int((self.links[:, 2] >= apart).sum())


def cluster(
    correlation: Correlation, linkage: str = "ward", metric: str = "rows", reward: bool = False
) -> ClusterTree:
    """Cluster parameters by how they correlate.

    The paper prints neither metric nor linkage; both are options here. The default distance of two
    parameters is the Euclidean distance of their rows of ``|r|``: two parameters are near when they
    correlate with each other and with the same others. For ten parameters it lies on the scale of
    the paper's dendrogram (all apart below 0.5, all together above 2.5).

    Args:
        correlation: The matrix.
        linkage: One of `LINKAGES`; Ward's needs the metric ``rows``, whose distances are Euclidean.
        metric: One of `METRICS`.
        reward: Let what a parameter has to do with the objective be a column of its row, too.

    Raises:
        ClusteringError: An option is unknown, two do not go together, the correlation has no
            reward, or there are fewer than two parameters.
    """
    from scipy.cluster.hierarchy import linkage as link
    from scipy.spatial.distance import squareform

    check_tree_options(linkage, metric, reward)
    if len(correlation.names) < 2:
        raise ClusteringError("clustering needs at least two parameters")
    strength = np.abs(correlation.matrix)
    if metric == "pairs":
        near = squareform(1.0 - np.clip(strength, 0.0, 1.0), checks=False)
        return ClusterTree(correlation.names, link(near, method=linkage), metric)
    if reward:
        strength = np.column_stack([strength, np.abs(_reward_of(correlation))])
    return ClusterTree(correlation.names, link(strength, method=linkage), metric)


def check_tree_options(linkage: str, metric: str, reward: bool) -> None:
    """Check what :func:`cluster` is told, before a dataset is collected for it.

    Raises:
        ClusteringError: An option is unknown, or two do not go together.
    """
    for what, name, known in (("linkage", linkage, LINKAGES), ("metric", metric, METRICS)):
        if name not in known:
            raise ClusteringError(f"{what} {name!r}: expected one of {', '.join(known)}")
    if metric == "pairs" and (linkage == "ward" or reward):
        other = "linkage 'ward'" if linkage == "ward" else "the reward's column"
        raise ClusteringError(f"metric 'pairs' has no {other}; use metric 'rows'")


def _reward_of(correlation: Correlation) -> FloatArray:
    if correlation.reward is None:
        raise ClusteringError("the correlation has no reward; give `correlate` the values, too")
    return correlation.reward
