"""What no choice of tensors that stay, and no mappings, are below, worked out from certificates.

A part says of a layer, with something of it in L2 and so much room for its tiles, that ``energy +
price x latency`` is nowhere below a bound. A mapping that is one with less in L2, or in less room,
costs no less, so that the bound holds there too. On a list of levels a part may say it of energy
times latency. Together with the bounds of the layer's whole
space these are lines that every energy and latency of the layer is above. A network's sum is the
least over all sets of tensors, node after node, of the layers' least sums; its sums at several
prices are lines again, and the least product above them bounds the energy-delay product.

Nothing here is the search's: it shares what a node costs where (`mapper.staying.placement`), and
the cost model's bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from layers import Layer
from mapper.certificate.kept_certificate import KeptTerms, PartTerms
from mapper.certificate.tree_check import least_of_roots
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import BOTH, ENERGY, LATENCY, Resident, SumWeights

MOST_SETS = 512
"""Sets of tensors that are looked at after a node; the others' costs so far count, and what all
nodes to come cost at least."""
ROUNDED = 1e-12
"""Share that rounding may put a sum too high."""


class BoundLine(NamedTuple):
    """``weights.of(energy, latency)`` is nowhere below a value."""

    weights: SumWeights
    value: float


def corners(lines: Sequence[BoundLine]) -> list[tuple[float, float]]:
    """Energy [nJ] and latency [cycles] where the border of what is above all lines has corners.

    A sum with weights of at least 0, and a product, are least at one of them.
    """
    if any(math.isinf(value) for _, value in lines):
        return [(math.inf, math.inf)]
    sloped = [(of.energy, of.latency, value) for of, value in lines if of.energy > 0]
    first = max((value / of.latency for of, value in lines if of.energy == 0), default=0.0)
    at = {first}
    for number, (a, b, value) in enumerate(sloped):
        for c, d, other in sloped[:number]:
            if a * d != b * c:
                at.add((a * other - c * value) / (a * d - b * c))
    return [
        (max(max((value - b * time) / a for a, b, value in sloped), 0.0), time)
        for time in sorted(at)
        if time >= first
    ]


def least_above(product: float, lines: Iterable[BoundLine], weights: SumWeights) -> float:
    """What a sum is not below where energy times latency is not below a product.

    Along the curve of that product it is least where both shares are alike, or next to it at the
    least energy or latency that lines allow.
    """
    energy, latency = (
        max((value for of, value in lines if of == one), default=0.0) for one in (ENERGY, LATENCY)
    )
    if product <= 0 or not (weights.energy and weights.latency):
        return 0.0
    if math.isinf(product):
        return math.inf
    time = math.sqrt(weights.energy * product / weights.latency)
    time = max(min(time, product / energy if energy else math.inf), latency)
    return weights.of(max(product / time, energy), time)


class KeptBound:
    """Bounds of a network's sums.

    Args:
        placement: The network on its chip.
        terms: Under what its layers are costed.
        parts: What is certified, and the bounds.
    """

    def __init__(
        self, placement: Placement, terms: KeptTerms, parts: Iterable[tuple[PartTerms, float]]
    ) -> None:
        self._at, self._terms = placement, terms
        self._parts: dict[Layer, list[tuple[PartTerms, float]]] = {}
        for part, bound in parts:
            self._parts.setdefault(part.shape, []).append((part, bound))
        self._begins: dict[int, list[int]] = {}
        for number, room in enumerate(placement.rooms):
            self._begins.setdefault(room.first, []).append(number)
        self._rooted: set[SumWeights] = set()
        self._least = cache(self._least_of)
        self._roots = cache(self._root)

    def of(self, objective: str, prices: Sequence[float]) -> float:
        """What no network's objective is below; the EDP's by sums with these prices of a cycle."""
        if objective != "edp":
            return self.sum(ENERGY if objective == "energy" else LATENCY)
        sums = {ENERGY, LATENCY, *(SumWeights(1.0, price) for price in prices)}
        self._rooted |= sums
        lines = [BoundLine(weights, self.sum(weights)) for weights in sorted(sums)]
        return min(map(math.prod, corners(lines)))

    def sum(self, weights: SumWeights) -> float:
        """What no sum over the network's nodes is below, whatever stays."""
        nodes, rooms = self._at.graph.nodes, self._at.rooms
        ahead = self._ahead(weights)
        left_out = math.inf
        sets: dict[Stays, float] = {frozenset(): 0.0}
        for place in range(len(nodes)):
            if len(sets) > MOST_SETS:
                ranked = sorted(sets, key=lambda one: (sets[one], sorted(one)))
                left_out = min(left_out, sets[ranked[MOST_SETS]] + ahead[place])
                sets = {one: sets[one] for one in ranked[:MOST_SETS]}
            after: dict[Stays, float] = {}
            for before, value in sets.items():
                for taken in self._taken(before, place):
                    total = value + self._cost(place, taken, weights)
                    left = frozenset(n for n in taken if rooms[n].last > place)
                    after[left] = min(total, after.get(left, math.inf))
            sets = after
        return min(left_out, *sets.values()) * (1 - ROUNDED)

    def _taken(self, before: Stays, place: int) -> list[Stays]:
        """The sets that may be in L2 during a node: what is there, and what it writes or not."""
        rooms, found = self._at.rooms, [before]
        for number in self._begins.get(place, ()):
            found += [taken | {number} for taken in found]
        return [one for one in found if taken_bits(rooms, one, place) <= self._at.capacity]

    def _cost(self, place: int, taken: Stays, weights: SumWeights) -> float:
        node = self._at.graph.nodes[place]
        if node.layer is None:
            latency, energy, _ = self._at.pass_of(node, taken)
            return weights.of(energy, latency)
        resident, room = self._at.resident(node, taken), self._at.room(place, taken)
        return self._least(PartTerms(node.layer.renamed(""), resident, room, weights))

    def _ahead(self, weights: SumWeights) -> list[float]:
        """What the nodes from each place on cost at least: layers with all that can be in L2."""
        everything = frozenset(range(len(self._at.rooms)))
        ahead = [0.0]
        for node in reversed(self._at.graph.nodes):
            least = 0.0
            if node.layer is not None:
                resident = self._at.resident(node, everything)
                least = self._least(PartTerms(node.layer.renamed(""), resident, 0.0, weights))
            ahead.append(ahead[-1] + least)
        return ahead[::-1]

    def _least_of(self, asked: PartTerms) -> float:
        """What a sum of a layer's energy and latency is not below."""
        lines, product = [], 0.0
        for part, bound in self._parts.get(asked.shape, ()):
            if not (asked.resident <= part.resident and part.room >= asked.room):
                continue
            if self._terms.is_deep and part.weights == BOTH:
                product = max(product, bound)
            else:
                lines.append(BoundLine(part.weights, bound))
        for weights in self._rooted | {asked.weights}:
            lines += self._roots(asked.shape, asked.resident, weights)
        return max(
            min(asked.weights.of(*corner) for corner in corners(lines)),
            least_above(product, lines, asked.weights),
        )

    def _root(self, shape: Layer, resident: Resident, weights: SumWeights) -> list[BoundLine]:
        """What the model's bounds of a layer's whole space say."""
        at = PartTerms(shape, resident, math.inf, ENERGY)
        floors = self._terms.spec(at).build().figure_bounds
        found = [
            BoundLine(ENERGY, floors.get("energy_nj", 0.0)),
            BoundLine(LATENCY, floors.get("latency_cycles", 0.0)),
        ]
        if not self._terms.is_deep:
            priced = self._terms.spec(at._replace(weights=weights)).build()
            found.append(BoundLine(weights, least_of_roots(priced)))
        return found
