"""What a walk over the boxes of a certificate came by."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Walked:
    """Counts of a walk.

    Args:
        boxes: Boxes and structures.
        ruled_out: Boxes that a bound rules out.
        alone: Those of them that the checker's own relaxation rules out.
        settled: Structures whose loop orders were evaluated.
        evaluated: Mappings evaluated for it.
        size: Mappings of the space in all boxes and structures.
        limits: Where no mapping is feasible: boxes that each limit rules out.
    """

    boxes: int = 0
    ruled_out: int = 0
    alone: int = 0
    settled: int = 0
    evaluated: int = 0
    size: int = 0
    limits: dict[str, int] = field(default_factory=dict)
