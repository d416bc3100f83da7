"""What is known of a layer's latency and energy, where some of its tensors are in L2 already.

Facts are mappings (with what they need of L2) and lines: no mapping that needs at most so much of
L2 has ``a * energy + b * latency`` below a value. A layer with less in L2, or with less room, is
never better, so that a line holds for those too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from cost_models import ChainMapping, Mapping

Resident = frozenset[str]
"""Those of input, filter and output that are whole in L2."""
Asked = tuple[Resident, float, "SumWeights"]
"""What is resident, the bytes of L2 that are left, and what is summed."""
SMALLEST = 1e-12
"""Share that rounding may put a line too high."""


class SumWeights(NamedTuple):
    """An objective: so much of the energy [nJ] and so much of the latency [cycles]."""

    energy: float
    latency: float

    def of(self, energy: float, latency: float) -> float:
        """The value of a cost."""
        return self.energy * energy + self.latency * latency


ENERGY, LATENCY = SumWeights(1.0, 0.0), SumWeights(0.0, 1.0)
BOTH = SumWeights(1.0, 1.0)
"""Stands for energy times latency on a list of levels, whose bounds know no sum of both."""


class KnownMapping(NamedTuple):
    """A mapping and its cost.

    Args:
        energy: [nJ].
        latency: [cycles].
        needs: Bytes of L2 for tiles of what is not resident.
        dram: Bytes over DRAM's boundary.
        mapping: The mapping.
    """

    energy: float
    latency: float
    needs: float
    dram: float
    mapping: Mapping | ChainMapping | None


class CostLine(NamedTuple):
    """``weights.of(energy, latency) >= value`` for all mappings that need at most `room` bytes."""

    room: float
    weights: SumWeights
    value: float


@dataclass
class ShapeFacts:
    """All that is known of a shape."""

    mappings: dict[Resident, list[KnownMapping]] = field(default_factory=dict)
    lines: dict[Resident, list[CostLine]] = field(default_factory=dict)
    proven: dict[Resident, set[float]] = field(default_factory=dict)
    products: dict[Resident, list[tuple[float, float]]] = field(default_factory=dict)
    """A room, and what no product of energy and latency is below where tiles have that room."""
    _least: dict[Asked, float] = field(default_factory=dict, repr=False)
    _best: dict[Asked, KnownMapping | None] = field(default_factory=dict, repr=False)

    def add(self, resident: Resident, found: KnownMapping) -> None:
        """Take in a mapping."""
        self._best.clear()
        self.mappings.setdefault(resident, []).append(found)

    def bound(self, resident: Resident, line: CostLine) -> None:
        """Take in a line."""
        self._least.clear()
        self.lines.setdefault(resident, []).append(line)

    def bound_product(self, resident: Resident, room: float, value: float) -> None:
        """Take in what no product of energy and latency is below."""
        self._least.clear()
        self.products.setdefault(resident, []).append((room, value))

    def best(self, resident: Resident, room: float, weights: SumWeights) -> KnownMapping | None:
        """The best mapping known that fits."""
        key = resident, room, weights
        if key not in self._best:
            fitting = (one for one in self.mappings.get(resident, ()) if one.needs <= room)
            self._best[key] = min(
                fitting,
                key=lambda one: (weights.of(one.energy, one.latency), one.dram),
                default=None,
            )
        return self._best[key]

    def upper(self, resident: Resident, room: float, weights: SumWeights) -> float:
        """Value of the best mapping known; inf where there is none."""
        found = self.best(resident, room, weights)
        return math.inf if found is None else weights.of(found.energy, found.latency)

    def lower(self, resident: Resident, room: float, weights: SumWeights) -> float:
        """A value that no mapping is below.

        Two lines together bound all weights between theirs: their sum with shares of both.
        """
        key = resident, room, weights
        if key not in self._least:
            self._least[key] = self._lower(*key)
        return self._least[key]

    def _lower(self, resident: Resident, room: float, weights: SumWeights) -> float:
        lines = list(self._holding(resident, room))
        best = max((line.value for line in lines if line.weights == weights), default=0.0)
        wanted = _slope(weights)
        steep = [line for line in lines if _slope(line.weights) >= wanted]
        flat = [line for line in lines if _slope(line.weights) <= wanted]
        for one, other in product(steep, flat):
            best = max(best, _joined(one, other, weights))
        best = max(best, self._above_products(resident, room, weights, lines))
        return best * (1 - SMALLEST)

    def _above_products(
        self, resident: Resident, room: float, weights: SumWeights, lines: list[CostLine]
    ) -> float:
        """The same by products: a sum of two numbers is least where they are alike."""
        least = max(
            (value for other, products in self.products.items() if resident <= other
             for most, value in products if most >= room),
            default=0.0,
        )  # fmt: skip
        if least == 0 or weights.energy == 0 or weights.latency == 0:
            return 0.0
        energy = max((line.value for line in lines if line.weights == (1, 0)), default=0.0)
        latency = max((line.value for line in lines if line.weights == (0, 1)), default=0.0)
        alike = math.sqrt(weights.energy * least / weights.latency)
        at = max(latency, min(alike, least / energy if energy else math.inf))
        return weights.of(max(energy, least / at), at)

    def _holding(self, resident: Resident, room: float) -> Iterator[CostLine]:
        for other, lines in self.lines.items():
            if resident <= other:
                yield from (line for line in lines if line.room >= room)


def _slope(weights: SumWeights) -> float:
    return math.inf if weights.energy == 0 else weights.latency / weights.energy


def _joined(steep: CostLine, flat: CostLine, weights: SumWeights) -> float:
    """The bound by two lines whose weights lie on both sides of the wanted ones."""
    (a, b), (c, d) = steep.weights, flat.weights
    determinant = a * d - b * c
    if determinant == 0:
        return 0.0
    share = (weights.energy * d - weights.latency * c) / determinant
    other = (a * weights.latency - b * weights.energy) / determinant
    if share < 0 or other < 0 or math.isinf(steep.value) or math.isinf(flat.value):
        return math.inf if share >= 0 and other >= 0 else 0.0
    return share * steep.value + other * flat.value
