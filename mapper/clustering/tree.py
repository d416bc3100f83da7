"""Agglomerative clustering of parameters, and the agent budget that the dendrogram suggests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from common import FloatArray
from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.correlation import ClusteringError, Correlation

UNRELATED = 2.0**0.5
"""Distance of two parameters that correlate with nothing."""

LINKAGES = ("ward", "average", "complete", "single")


@dataclass(frozen=True)
class ClusterTree:
    """A dendrogram over parameters.

    Args:
        names: The `P` parameters (the leaves, in order).
        links: SciPy's ``(P - 1, 4)`` linkage matrix; column 2 is the distance of each merge.
    """

    names: tuple[str, ...]
    links: FloatArray

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
        are sqrt(2) apart.
        """
        return 1 + int((self.links[:, 2] >= UNRELATED).sum())


def cluster(correlation: Correlation, linkage: str = "ward") -> ClusterTree:
    """Cluster parameters by how alike their rows of the correlation matrix are.

    The distance of two parameters is the Euclidean distance of their rows of ``|r|``: two
    parameters are near when they correlate with each other and with the same others. For ten
    parameters it lies on the scale of the paper's dendrogram (all apart below 0.5, all together
    above 2.5).

    Args:
        correlation: The matrix.
        linkage: One of `LINKAGES`.

    Raises:
        ClusteringError: The linkage is unknown, or there are fewer than two parameters.
    """
    from scipy.cluster.hierarchy import linkage as link

    if linkage not in LINKAGES:
        raise ClusteringError(f"linkage {linkage!r}: expected one of {', '.join(LINKAGES)}")
    if len(correlation.names) < 2:
        raise ClusteringError("clustering needs at least two parameters")
    return ClusterTree(correlation.names, link(np.abs(correlation.matrix), method=linkage))
