"""From counts to energies: by a table of one price a level, or by the prices of the chip.

All of them are linear in the counts (and in the latency, for leakage). Numbers and arrays take the
same floating-point operations in the same order, so that a batch's figures equal single ones bit
for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from cost_models.buffers import LEVELS
from cost_models.exact.accesses import (
    DELIVERIES,
    MOVES,
    Counts,
    dram_accesses,
    l1_accesses,
    l2_accesses,
    noc_deliveries,
)
from cost_models.exact.names import COUNT_NAMES, WIDE_NAMES
from cost_models.physical import EnergyTable
from cost_models.prices import PARTS, ChipPrices

Part = Callable[[Counts], Any]
Terms = tuple[tuple[str, float], ...]


class Energy(Protocol):
    """Energies of counts."""

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts of the energy [nJ], by their names in `Cost.detail`."""

    def total(self, counts: Counts) -> Any:
        """All parts together [nJ]."""


class TableEnergy:
    """One price a level, whatever is moved: MAESTRO's way of adding up.

    Args:
        table: The prices.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, table: EnergyTable, tile: bool) -> None:
        self._table = table
        self._tile = tile
        unit = table.unit_nj
        self.parts: dict[str, Part] = {
            "energy_mac_nj": lambda c: unit * (table.mac * c["macs"]),
            "energy_l1_nj": lambda c: unit * (table.l1 * l1_accesses(c)),
            "energy_noc_nj": lambda c: unit * (table.noc * noc_deliveries(c)),
            "energy_l2_nj": lambda c: unit * (table.l2 * l2_accesses(c, tile)),
            "energy_dram_nj": lambda c: unit * (table.dram * dram_accesses(c)),
        }

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at the table's price."""
        return self._table.energy_nj(
            c["macs"],
            l1_accesses(c),
            l2_accesses(c, self._tile),
            dram_accesses(c),
            noc_deliveries(c),
        )


class FixedEnergy:
    """The prices of a chip whose buffers all have a capacity: a constant price for every count.

    Args:
        prices: The prices.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, prices: ChipPrices, tile: bool) -> None:
        self.prices = prices
        by_part = {name: _terms(part, prices, tile) for name, part in CHIP_PARTS.items()}
        self.parts: dict[str, Part] = {
            name: partial(_linear, terms) for name, terms in by_part.items()
        }
        self.parts["energy_leakage_nj"] = self._leakage
        sums: dict[str, float] = {}
        for terms in by_part.values():
            for name, price in terms:
                sums[name] = sums.get(name, 0.0) + price
        self.coefficients = {name: price for name, price in sums.items() if name in COUNT_NAMES}
        """Energy of one of each count [nJ], leakage apart, where no level is passed."""
        self._total: Terms = tuple(sums.items())

    def _leakage(self, c: Counts) -> Any:
        return self.prices.leakage_nj(c["num_pes"], c["latency"])

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at its price, and leakage."""
        return _linear(self._total, c) + self._leakage(c)


class RequiredEnergy:
    """The prices of a chip some of whose buffers are as large as each mapping requires.

    Args:
        prices: The prices for given counts.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, prices: Callable[[Counts], ChipPrices], tile: bool) -> None:
        self._prices = prices
        self._tile = tile
        self.parts: dict[str, Part] = {name: partial(self._part, name) for name in CHIP_PARTS}
        self.parts["energy_leakage_nj"] = self._leakage

    def _part(self, name: str, c: Counts) -> Any:
        return CHIP_PARTS[name](self._prices(c), self._tile, c)

    def _leakage(self, c: Counts) -> Any:
        return self._prices(c).leakage_nj(c["num_pes"], c["latency"])

    def total(self, c: Counts) -> Any:
        """Energy [nJ]: every MAC and access at its price, and leakage."""
        prices = self._prices(c)
        total = prices.leakage_nj(c["num_pes"], c["latency"])
        for part in CHIP_PARTS.values():
            total = total + part(prices, self._tile, c)
        return total


def _level_part(level: str, prices: ChipPrices, tile: bool, c: Counts) -> Any:
    of_level = dict(zip(LEVELS, prices.levels, strict=True))[level]
    by_way = {
        way: dict(zip(PARTS, held, strict=True))
        for way, held in (("read", of_level.read), ("write", of_level.write))
    }
    total = 0.0
    for (where, way, part), move in MOVES[tile].items():
        if where == level:
            total = total + by_way[way][part] * move(c)
    return total


def _noc_part(prices: ChipPrices, tile: bool, c: Counts) -> Any:
    of_part = dict(zip(PARTS, prices.noc, strict=True))
    total = 0.0
    for part, move in DELIVERIES.items():
        total = total + of_part[part] * move(c)
    return total


def _mac_part(prices: ChipPrices, tile: bool, c: Counts) -> Any:
    return prices.mac_nj * c["macs"]


CHIP_PARTS: dict[str, Callable[[ChipPrices, bool, Counts], Any]] = {
    "energy_mac_nj": _mac_part,
    "energy_l1_nj": partial(_level_part, "L1"),
    "energy_noc_nj": _noc_part,
    "energy_l2_nj": partial(_level_part, "L2"),
    "energy_dram_nj": partial(_level_part, "DRAM"),
}
"""Parts of a chip's energy but leakage, by their names in `Cost.detail`."""


def _terms(
    part: Callable[[ChipPrices, bool, Counts], Any], prices: ChipPrices, tile: bool
) -> Terms:
    """The price of every count in a part: its energy where that count is one, the others zero."""
    nothing = dict.fromkeys((*COUNT_NAMES, *WIDE_NAMES), 0)
    prices_of = ((name, float(part(prices, tile, nothing | {name: 1}))) for name in nothing)
    return tuple((name, price) for name, price in prices_of if price != 0)


def _linear(terms: Terms, c: Counts) -> Any:
    total = 0.0
    for name, price in terms:
        count = c.get(name)
        if count is not None:
            total = total + price * count
    return total
