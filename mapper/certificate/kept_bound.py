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
from mapper.certificate.group_bound import GroupBound, NetworkGroups
from mapper.certificate.kept_certificate import KeptTerms, PartTerms
from mapper.certificate.replay import Grid
from mapper.certificate.tree_check import grid_of, least_of_roots
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import BOTH, ENERGY, LATENCY, Resident, SumWeights

MOST_SETS = 512
"""Sets of tensors that are looked at after a node; the others' costs so far count, and what all
nodes to come cost at least."""
ROUNDED = 1e-12
"""Share that rounding may put a sum too high."""
NEAR = 1e-9
"""Share below which two values are the same."""


class BoundLine(NamedTuple):
    """``weights.of(energy, latency)`` is nowhere below a value."""

    weights: SumWeights
    value: float


def corners(lines: Sequence[BoundLine]) -> list[tuple[float, float]]:
    """Energy [nJ] and latency [cycles] where the border of what is above all lines has corners.

    A sum with weights of at least 0, and a product, are least at one of them; there are none where
    nothing is above a line.
    """
    if any(math.isinf(value) for _, value in lines):
        return []
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


class NetworkSum(NamedTuple):
    """What a sum over a network's nodes is not below, and the groups on the way to it."""

    value: float
    groups: tuple[GroupBound, ...]

    def look(self) -> bool:
        """Look closer at its groups; whether there was anything to see."""
        looked = [group.look() for group in dict.fromkeys(self.groups)]
        return any(looked)


class KeptBound:
    """Bounds of a network's sums.

    Args:
        placement: The network on its chip.
        terms: Under what its layers are costed.
        parts: What is certified, and the bounds.
        groups: Of layers that may be fused; None where none may.
    """

    def __init__(
        self,
        placement: Placement,
        terms: KeptTerms,
        parts: Iterable[tuple[PartTerms, float]],
        groups: NetworkGroups | None = None,
    ) -> None:
        self._at, self._terms, self._groups = placement, terms, groups
        self._parts: dict[Layer, list[tuple[PartTerms, float]]] = {}
        for part, bound in parts:
            self._parts.setdefault(part.shape, []).append((part, bound))
        self._begins: dict[int, list[int]] = {}
        for number, room in enumerate(placement.rooms):
            self._begins.setdefault(room.first, []).append(number)
        self._whole = {layer.renamed("") for layer in placement.graph.layers}
        self._rooted: set[SumWeights] = set()
        self._grids: dict[Layer, Grid] = {}
        self._least = cache(self._least_of)
        self._roots = cache(self._root)
        self._figures = cache(self._figures_of)
        self._costs = cache(self._cost)
        self._aheads = cache(self._ahead)

    def of(self, objective: str, prices: Sequence[float], wanted: float = math.inf) -> float:
        """What no network's objective is below; the EDP's by sums with these prices of a cycle.

        Groups are looked at until it is `wanted`, or there is nothing more to see.
        """
        if objective != "edp":
            return self.sum(ENERGY if objective == "energy" else LATENCY, wanted)
        weights = {ENERGY, LATENCY, *(SumWeights(1.0, price) for price in prices)}
        self._rooted |= weights
        sums = {one: self._sum(one) for one in sorted(weights)}
        while True:
            lines = [BoundLine(one, found.value) for one, found in sums.items()]
            least = min(corners(lines), key=math.prod, default=(math.inf, math.inf))
            bound = math.prod(least)
            low = [one for one, value in lines if one.of(*least) <= value * (1 + NEAR)]
            if bound >= wanted * (1 - NEAR):
                return bound
            nearer = [n for n in low if sums[n].look()] or [n for n in sums if sums[n].look()]
            if not nearer:
                return bound
            sums |= {one: self._sum(one) for one in nearer}

    def sum(self, weights: SumWeights, wanted: float = math.inf) -> float:
        """What no sum over the network's nodes is below, whatever stays and is fused."""
        found = self._sum(weights)
        while found.value < wanted * (1 - NEAR) and found.look():
            found = self._sum(weights)
        return found.value

    def _sum(self, weights: SumWeights) -> NetworkSum:
        """The least sum over all choices, by what is known of groups so far."""
        nodes, rooms = self._at.graph.nodes, self._at.rooms
        left_out = math.inf
        found: list[dict[Stays, NetworkSum]] = [{} for _ in range(len(nodes) + 1)]
        found[0][frozenset()] = NetworkSum(0.0, ())
        for place in range(len(nodes)):
            sets = found[place]
            if len(sets) > MOST_SETS:
                ranked = sorted(sets, key=lambda one: (sets[one].value, sorted(one)))
                value = sets[ranked[MOST_SETS]].value
                left_out = min(left_out, value + self._aheads(weights)[place])
                sets = {one: sets[one] for one in ranked[:MOST_SETS]}
            for count in (1, *self._groups_at(place)):
                after = found[place + count]
                for before, one in sets.items():
                    for taken in self._taken(before, place, place + count - 1):
                        more = self._more(one, place, count, taken, weights)
                        left = frozenset(n for n in taken if rooms[n].last >= place + count)
                        if left not in after or more.value < after[left].value:
                            after[left] = more
            found[place] = {}
        ends = found[-1].values()
        value, groups = min(ends, key=lambda one: one.value, default=NetworkSum(math.inf, ()))
        return NetworkSum(min(left_out, value) * (1 - ROUNDED), groups)

    def _groups_at(self, place: int) -> Iterable[int]:
        """How many nodes the groups have that begin at a place."""
        return () if self._groups is None else self._groups.by_place.get(place, ())

    def _taken(self, before: Stays, place: int, last: int) -> list[Stays]:
        """The sets that may be in L2 during some nodes: what is there, and what the last writes."""
        rooms, found = self._at.rooms, [before]
        for number in self._begins.get(last, ()):
            found += [taken | {number} for taken in found]
        return [one for one in found if taken_bits(rooms, one, place) <= self._at.capacity]

    def _more(
        self, before: NetworkSum, place: int, count: int, taken: Stays, weights: SumWeights
    ) -> NetworkSum:
        """A sum with a node, or with a group of several."""
        value, groups = before
        if self._groups is None or count == 1:
            return NetworkSum(value + self._costs(place, taken, weights), groups)
        group = self._groups.bound(place, count, taken, weights, self._least)
        return NetworkSum(value + group.least, (*groups, group))

    def _cost(self, place: int, taken: Stays, weights: SumWeights) -> float:
        node = self._at.graph.nodes[place]
        if node.layer is None:
            latency, energy, _ = self._at.pass_of(node, taken)
            return weights.of(energy, latency)
        resident, room = self._at.resident(node, taken), self._at.room(place, taken)
        return self._least(PartTerms(node.layer.renamed(""), resident, room, weights))

    def _ahead(self, weights: SumWeights) -> list[float]:
        """What nodes from each place on cost at least: with all in L2, and all room for tiles."""
        everything = frozenset(range(len(self._at.rooms)))
        nodes = self._at.graph.nodes
        ahead = [0.0] * (len(nodes) + 1)
        for place in range(len(nodes) - 1, -1, -1):
            node, least = nodes[place], 0.0
            if node.layer is not None:
                resident, room = (
                    self._at.resident(node, everything),
                    self._at.room(place, frozenset()),
                )
                least = self._least(PartTerms(node.layer.renamed(""), resident, room, weights))
            ahead[place] = ahead[place + 1] + least
            groups = {} if self._groups is None else self._groups.least(place, weights)
            for count, value in groups.items():
                ahead[place] = min(ahead[place], ahead[place + count] + value)
        return ahead

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
        lines += self._figures(asked.shape, asked.resident)
        more = self._rooted if asked.shape in self._whole else set()
        for weights in more | {asked.weights}:
            lines += self._roots(asked.shape, asked.resident, weights)
        return max(
            min((asked.weights.of(*corner) for corner in corners(lines)), default=math.inf),
            least_above(product, lines, asked.weights),
        )

    def _figures_of(self, shape: Layer, resident: Resident) -> list[BoundLine]:
        """What the model's physical bounds say."""
        at = PartTerms(shape, resident, math.inf, ENERGY)
        floors = self._terms.spec(at).build().figure_bounds
        return [
            BoundLine(ENERGY, floors.get("energy_nj", 0.0)),
            BoundLine(LATENCY, floors.get("latency_cycles", 0.0)),
        ]

    def _root(self, shape: Layer, resident: Resident, weights: SumWeights) -> list[BoundLine]:
        """What the model's bounds of a layer's whole space say."""
        if self._terms.is_deep:
            return []
        problem = self._terms.spec(PartTerms(shape, resident, math.inf, weights)).build()
        if shape not in self._grids:  # the space is the same, whatever is in L2 and summed
            self._grids[shape] = grid_of(problem)
        return [BoundLine(weights, least_of_roots(problem, self._grids[shape]))]
