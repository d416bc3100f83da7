"""Figures of designs, their lower bounds, and which designs no other one beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cost_models import Accelerator, Chain, clock_of
from mapper.explore.design_ranges import ExploreError, Value
from mapper.explore.mapping_pool import NetworkPoint, ShapeOffer
from mapper.explore.network_hull import LayerFloor, least_product, least_sums, share_above
from marl_common import FloatArray, suggest

OBJECTIVES = {
    "latency": "cycles",
    "energy": "nJ",
    "edp": "cycles * nJ",
    "area": "um^2",
    "power": "mW",
}
"""What designs are compared by, for a whole network, and the units."""
OF_MAPPINGS = ("latency", "energy", "edp")
"""Objectives that mappings are chosen for."""


def objectives_of(text: str) -> tuple[str, ...]:
    """The two or three objectives of an exploration.

    Raises:
        ExploreError: A name is unknown, or there are not two or three different ones.
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in OBJECTIVES:
            raise ExploreError(
                f"--objectives: got {name!r}, expected two or three of {', '.join(OBJECTIVES)}."
                f"{suggest(name, OBJECTIVES)}"
            )
    if not 2 <= len(set(names)) == len(names) <= 3:
        raise ExploreError(
            f"--objectives: got {text!r}, expected two or three different ones of "
            f"{', '.join(OBJECTIVES)}, such as edp,area"
        )
    if not set(names) & set(OF_MAPPINGS):
        raise ExploreError(
            f"--objectives: got {text!r}, expected at least one of {', '.join(OF_MAPPINGS)}: "
            "mappings are chosen for these"
        )
    return names


def figures_of(chip: Accelerator | Chain, area: float, point: NetworkPoint) -> dict[str, float]:
    """All objectives of a choice of mappings; the power is energy over time, of the network."""
    return {
        "latency": point.latency,
        "energy": point.energy,
        "edp": point.latency * point.energy,
        "area": area,
        "power": point.energy * clock_of(chip) / point.latency,
    }


@dataclass
class Design:
    """One design and what is known of it.

    Args:
        chip: The chip.
        fields: Its swept fields.
        area: Its area [um^2].
        floors: What no mapping of each shape goes below.
        why: Why it cannot run the network, or "".
        offers: Mappings of every shape.
        points: Choices of mappings that no other of this design is below.
        asked: Aims whose proofs were asked for.
        proven: Those that were proven for every shape.
    """

    chip: Accelerator | Chain
    fields: Mapping[str, Value]
    area: float
    floors: list[LayerFloor]
    why: str = ""
    offers: Sequence[ShapeOffer] = ()
    points: Sequence[NetworkPoint] = ()
    asked: set[str] = field(default_factory=set)
    proven: set[str] = field(default_factory=set)

    def bounds(self, counts: Sequence[int]) -> dict[str, float]:
        """What no choice of mappings goes below, by objective."""
        latency, energy = least_sums(self.floors, counts)
        return {
            "latency": latency,
            "energy": energy,
            "edp": least_product(self.floors, counts),
            "area": self.area,
        }

    def gap(
        self, figures: Mapping[str, float], names: Sequence[str], counts: Sequence[int]
    ) -> float:
        """How much better mappings on this design may be, at most, in all objectives at once.

        Args:
            figures: Of the choice of mappings.
            names: The objectives.
            counts: How often each shape occurs.
        """
        aims = [name for name in names if name in OF_MAPPINGS]
        bound = self.bounds(counts)
        shares = [figures[name] / bound[name] - 1 for name in aims if bound[name] > 0]
        if {"latency", "energy"} <= set(aims):
            shares.append(share_above(figures["latency"], figures["energy"], self.floors, counts))
        return max(0.0, min(shares, default=float("inf")))


@dataclass(frozen=True)
class FrontPoint:
    """A design with a choice of mappings, and its figures.

    Args:
        design: The design.
        point: The choice.
        figures: By name of `OBJECTIVES`.
        gap: See :meth:`Design.gap`.
    """

    design: Design
    point: NetworkPoint
    figures: Mapping[str, float]
    gap: float


def gap_text(gap: float) -> str:
    """How far a point is from what is proven: ``optimal``, or ``within 0.13 %``."""
    if gap <= 1e-9:
        return "optimal"
    return f"within {100 * gap:.2g} %" if gap < 10 else "unknown"


def front_rows(values: FloatArray) -> list[int]:
    """Rows that no other row is as good as in every column, and better in one.

    Args:
        values: ``(N, M)`` to be minimised; of equal rows the first one counts.

    Returns:
        Rows by rising first column.
    """
    order = np.lexsort(values.T[::-1])
    kept: list[int] = []
    best = np.empty((0, values.shape[1]))
    for row in order:
        if not np.isfinite(values[row]).all():
            continue
        if not (best <= values[row]).all(axis=1).any():
            kept.append(int(row))
            best = np.concatenate([best, values[row][None]])
    return kept
