"""MAESTRO's dataflow language: the directives of one layer's mapping."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Directive:
    """One directive: a temporal or spatial map of a dimension, or the start of a cluster level.

    Args:
        kind: ``"TemporalMap"``, ``"SpatialMap"`` or ``"Cluster"``.
        size: Size as written, such as ``"4"`` or ``"8+Sz(S)-1"``.
        offset: Offset as written; for a cluster the text after the size, ``"P"``.
        dim: The dimension, such as ``"K"`` or ``"Y'"``; empty for a cluster.
    """

    kind: str
    size: str
    offset: str
    dim: str = ""


@dataclass(frozen=True)
class Dataflow:
    """The directives of one mapping, outermost first."""

    directives: tuple[Directive, ...]
