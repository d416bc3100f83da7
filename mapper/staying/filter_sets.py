"""Which filters stay in L2 over many runs of a network, by branch and bound.

A filter that stays takes room from every node of every run, so that sets of filters are chosen
for the network as a whole. Of a set in which some filters are undecided the bound lets each node
choose by itself, with a price for every bit that its filter takes: room that no set has is paid
back (a Lagrangian bound). The tensors that stay are found anew for each set.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import NamedTuple

from mapper.staying.filter_costs import FilterCosts
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import CLOSE
from mapper.staying.rooms import Stays
from mapper.staying.shape_facts import SumWeights
from mapper.staying.stay_schedule import StaySchedule, StepCost, schedule

MOST_SETS = 64
"""Partly decided sets that are split for one schedule."""
MOST_PRICES = 8
"""Prices of a bit that are tried for each."""


@dataclass
class RepeatedProblem(NetworkProblem):
    """A network that runs several times, with filters that may stay; see :class:`NetworkProblem`.

    Args:
        inputs: How often it runs; costs are a run's mean.
    """

    inputs: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.costs: FilterCosts = FilterCosts(
            self.graph, self.setting, self.counted, self.facts, self.inputs
        )
        self._sets: set[Stays] = {frozenset()}

    def best_schedule(self, weights: SumWeights, stay: bool, upper: bool) -> StaySchedule:
        """See :meth:`NetworkProblem.best_schedule`.

        By known costs it is the best of those sets of filters that were the best by bounds.
        """
        if not stay:
            return super().best_schedule(weights, stay, upper)
        search = FilterSearch(self.costs, weights, upper, self.gap / 4)
        if not upper:
            filters, found = search.best()
            self._sets.add(filters)
            return found
        return min((search.whole(one) for one in self._sets), key=lambda found: found.value)


class _PartSet(NamedTuple):
    """Filters of which some are decided.

    Args:
        stay: Those that stay.
        open: Those that may.
        bound: No set of these costs less.
        wanted: Open ones that nodes would have stay where the bound is highest.
    """

    stay: Stays
    open: Stays
    bound: float
    wanted: Stays


class FilterSearch:
    """The best set of filters.

    Args:
        costs: What nodes cost.
        weights: What is summed.
        upper: Whether costs are known ones, or the least.
        gap: Sets are not looked at that can be better by no more than this share.
    """

    def __init__(self, costs: FilterCosts, weights: SumWeights, upper: bool, gap: float) -> None:
        self._costs = costs
        self._cost = cache(lambda place, taken: costs.of(place, taken, weights, upper))
        self._spare = max(gap, CLOSE)
        self._whole: dict[Stays, StaySchedule] = {}
        self._least = [costs.least(place, weights) for place in range(len(costs.graph.nodes))]

    def best(self) -> tuple[Stays, StaySchedule]:
        """The best set that was found, and its schedule, whose bound holds for all sets."""
        self.whole(frozenset())
        number, bound = count(), math.inf
        first = self._bounded(frozenset(), self._costs.filters)
        parts = [(first.bound, next(number), first)]
        for _ in range(MOST_SETS):
            if not parts or self._value() <= parts[0][0] * (1 + self._spare):
                break
            above, _, split = heapq.heappop(parts)
            for part in self._split(split):
                if part.open:
                    heapq.heappush(parts, (max(above, part.bound), next(number), part))
                else:
                    bound = min(bound, part.bound)
        filters = min(self._whole, key=lambda one: (self._whole[one].value, sorted(one)))
        found = self._whole[filters]
        bound = min(bound, found.bound, parts[0][0] if parts else math.inf)
        return filters, replace(found, bound=bound)

    def whole(self, filters: Stays) -> StaySchedule:
        """The schedule where just these filters stay."""
        if filters not in self._whole:
            found = self._schedule(lambda place, taken: self._cost(place, taken | filters), filters)
            stays = tuple(taken | filters for taken in found.stays)
            self._whole[filters] = replace(found, stays=stays)
        return self._whole[filters]

    def _value(self) -> float:
        return min(found.value for found in self._whole.values())

    def _schedule(self, cost: StepCost, filters: Stays) -> StaySchedule:
        """The best choice of tensors in the room that filters leave."""
        return schedule(
            len(self._least),
            self._costs.rooms[: self._costs.tensors],
            self._costs.capacity - self._costs.bits(filters),
            cost,
            lambda place: self._least[place],
        )

    def _split(self, part: _PartSet) -> Iterator[_PartSet]:
        """Both halves of a partly decided set, by the largest filter that nodes want."""
        one = max(part.wanted or part.open, key=lambda n: (self._costs.rooms[n].bits, n))
        yield self._bounded(part.stay | {one}, part.open - {one})
        yield self._bounded(part.stay, part.open - {one})

    def _bounded(self, stay: Stays, undecided: Stays) -> _PartSet:
        """A partly decided set with its bound; sets that nodes want are looked at by the way."""
        left = self._costs.capacity - self._costs.bits(stay)
        some = frozenset(n for n in undecided if self._costs.bits((n,)) <= left)
        if not some:
            return _PartSet(stay, some, self.whole(stay).bound, some)
        bound, savings = self._priced(stay, some, 0.0)
        best, wanted = bound, frozenset(savings)
        self.whole(stay | self._fitting(savings, left))
        prices = sorted(savings.values())
        low, high = 0, len(prices) if self._costs.bits(savings) > left else 0
        for _ in range(MOST_PRICES):
            if low >= high:
                break
            middle = (low + high) // 2
            bound, savings = self._priced(stay, some, prices[middle])
            self.whole(stay | self._fitting(savings, left))
            if bound > best:
                best, wanted = bound, frozenset(savings)
            full = self._costs.bits(savings) > left
            low, high = (middle + 1, high) if full else (low, middle)
        return _PartSet(stay, some, best, wanted)

    def _fitting(self, savings: dict[int, float], left: float) -> Stays:
        """Filters that fit, those first that save the most a bit."""
        found: Stays = frozenset()
        for one in sorted(savings, key=lambda n: (-savings[n], n)):
            if self._costs.bits(found | {one}) <= left:
                found |= {one}
        return found

    def _priced(self, stay: Stays, some: Stays, price: float) -> tuple[float, dict[int, float]]:
        """A bound by a price of a bit, and what filters that nodes want then save a bit."""

        def parts(place: int, taken: Stays) -> tuple[float, float]:
            without, number = self._cost(place, taken | stay), self._costs.filter_of(place)
            if number is None or number not in some:
                return without, math.inf
            with_filter = self._cost(place, taken | stay | {number})
            return without, with_filter + price * self._costs.rooms[number].bits

        found = self._schedule(lambda place, taken: min(parts(place, taken)), stay)
        savings = {}
        for place, taken in enumerate(found.stays):
            without, with_filter = parts(place, taken)
            number = self._costs.filter_of(place)
            if number is not None and with_filter < without:
                savings[number] = (without - with_filter) / self._costs.rooms[number].bits + price
        left = self._costs.capacity - self._costs.bits(stay)
        return found.bound - (price * left if price else 0.0), savings
