"""From counts to energies: by a table of one price a level, or by the prices of the chip.

All of them are linear in the counts (and in the latency, for leakage). Numbers and arrays take the
same floating-point operations in the same order, so that a batch's figures equal single ones bit
for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cost_models.buffers import LEVELS
from cost_models.exact.accesses import DELIVERIES, EVENTS, MOVES, Counts, Sum, joined, value_of
from cost_models.exact.names import COUNT_NAMES, WIDE_NAMES
from cost_models.physical import EnergyTable
from cost_models.prices import ChipPrices

Part = Callable[[Counts], Any]


class TableEnergy:
    """One price a level, whatever is moved: MAESTRO's way of adding up.

    Args:
        table: The prices.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, table: EnergyTable, tile: bool) -> None:
        self._table, self._events = table, EVENTS[tile]
        self.parts: dict[str, Part] = {
            f"energy_{name}_nj": partial(self._part, name) for name in self._events
        }

    def _part(self, name: str, c: Counts) -> Any:
        table = self._table
        return table.unit_nj * (getattr(table, name) * value_of(self._events[name], c))

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at the table's price."""
        order = ("mac", "l1", "l2", "dram", "noc")
        return self._table.energy_nj(*(value_of(self._events[name], c) for name in order))


class RequiredEnergy:
    """The prices of a chip some of whose buffers are as large as each mapping requires.

    Args:
        prices: The prices for given counts.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, prices: Callable[[Counts], ChipPrices], tile: bool) -> None:
        self._prices, self._tile = prices, tile
        self.parts: dict[str, Part] = {
            f"energy_{name}_nj": partial(self._part, name) for name in EVENTS[tile]
        }
        self.parts["energy_leakage_nj"] = self._leakage

    def _part(self, name: str, c: Counts) -> Any:
        return _priced(_events(self._prices(c), self._tile)[name], c)

    def _leakage(self, c: Counts) -> Any:
        return self._prices(c).leakage_nj(c["num_pes"], c["latency"])

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at its price, and leakage."""
        prices = self._prices(c)
        total = prices.leakage_nj(c["num_pes"], c["latency"])
        for events in _events(prices, self._tile).values():
            total = total + _priced(events, c)
        return total


class FixedEnergy(RequiredEnergy):
    """The prices of a chip whose buffers all have a capacity: a constant price for every count.

    Args:
        prices: The prices.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, prices: ChipPrices, tile: bool) -> None:
        super().__init__(lambda _: prices, tile)
        self._terms = {name: _terms(events) for name, events in _events(prices, tile).items()}
        self._total = joined(self._terms.values())

    def _part(self, name: str, c: Counts) -> Any:
        return value_of(self._terms[name], c, 0.0)

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at its price, and leakage."""
        return value_of(self._total, c, 0.0) + self._leakage(c)


Energy = TableEnergy | RequiredEnergy
Events = list[tuple[Any, Sum]]
"""Prices [nJ], and how many counts each is paid for."""


def _events(prices: ChipPrices, tile: bool) -> dict[str, Events]:
    """What is paid for in each part of a chip's energy but leakage."""
    found: dict[str, Events] = {name: [] for name in EVENTS[tile]}
    levels = dict(zip(LEVELS, prices.levels, strict=True))
    found["mac"] = [(prices.mac_nj, EVENTS[tile]["mac"])]
    found["noc"] = [(getattr(prices.noc, part), some) for part, some in DELIVERIES.items()]
    for (level, way, part), some in MOVES[tile].items():
        by_part = getattr(levels[level], way)
        found[level.lower()].append((getattr(by_part, part), some))
    return found


def _priced(events: Events, c: Counts) -> Any:
    total = 0.0
    for price, some in events:
        total = total + price * value_of(some, c)
    return total


def _terms(events: Events) -> Sum:
    """The price of every count in a part."""
    one = joined({name: price * times for name, times in some.items()} for price, some in events)
    return {name: one[name] for name in (*COUNT_NAMES, *WIDE_NAMES) if one.get(name)}
