"""What a proof says, and what it took."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import add
from typing import Literal

from baselines.optimal.tree import Tree
from cost_models import ChainMapping, Mapping

Status = Literal["optimal", "within_gap", "timeout", "memory", "boxes", "empty"]
LEAST_MEMORY = 16 << 20
"""Least memory that a proof may be given [B]."""


class ProveError(ValueError):
    """A problem without bounds, or an option that makes no sense."""


@dataclass(frozen=True)
class ProofLimits:
    """Where a proof ends, and who watches it.

    Args:
        gap: Share above the optimum.
        timeout: Wall time [s]; None for no end.
        max_memory: Memory [B].
        boxes: Boxes, after which it ends on any machine alike; None for no end.
        progress: Called now and then.
    """

    gap: float = 0.0
    timeout: float | None = None
    max_memory: int = 2 << 30
    boxes: int | None = None
    progress: Callable[[ProofProgress], None] | None = None


@dataclass
class Counts:
    """What a proof took.

    Args:
        boxes: Boxes whose bound was worked out.
        ruled_out: Boxes that their bound ruled out.
        structures: Structures whose loop orders were evaluated.
        evaluated: Mappings evaluated, those of the first value not counted.
    """

    boxes: int = 0
    ruled_out: int = 0
    structures: int = 0
    evaluated: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True)
class ProofProgress:
    """How far a proof has come.

    Args:
        value: Best value so far; inf if there is none.
        bound: What no mapping goes below, as far as is proven.
        boxes: Boxes whose bound was worked out.
        left: Boxes that are still to be split.
        seconds: Processor time so far [s].
        mapping: A mapping of that value; None if there is none.
    """

    value: float
    bound: float
    boxes: int
    left: int
    seconds: float
    mapping: Mapping | ChainMapping | None = None

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share; inf where nothing is known."""
        return relative_gap(self.value, self.bound)


@dataclass(frozen=True)
class Proof:
    """The best mapping of a space, as far as it is proven.

    Args:
        mapping: The best mapping found; None if there is none.
        value: Its value, in the objective's unit; inf if there is none.
        bound: No mapping of the space has a lower value; inf where the space is proven empty.
        status: ``"optimal"``; ``"within_gap"``: proven up to the gap that was asked for;
            ``"timeout"``, ``"memory"`` or ``"boxes"``: ended before; ``"empty"``: proven that no
            mapping is feasible.
        counts: What it took.
        seconds: Processor time [s].
        tree: What was split, ruled out and evaluated; None unless it was asked for.
    """

    mapping: Mapping | ChainMapping | None
    value: float
    bound: float
    status: Status
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    tree: Tree | None = None

    @property
    def proven(self) -> bool:
        """Whether nothing is left open: the value is the optimum, or there is no mapping."""
        return self.status in ("optimal", "empty")

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share; 0 where it is proven."""
        return 0.0 if self.proven else relative_gap(self.value, self.bound)


def settled(value: float, bound: float) -> Status:
    """What a proof is that nothing has cut short."""
    if not math.isfinite(value):
        return "empty"
    return "optimal" if bound >= value else "within_gap"


def relative_gap(value: float, bound: float) -> float:
    """``value / bound - 1``; inf where there is no value or no bound."""
    if bound >= value:
        return 0.0
    return value / bound - 1.0 if bound > 0 else float("inf")
