"""From counts to accesses and energies; numbers or arrays alike.

Every access is a sum of counts, so that energies are linear in them (and in the latency, for
leakage): by a table of one price a level, or by the prices of the chip. A count is a Python integer
for one mapping, an int64 array for many; both take the same floating-point operations in the same
order, so that a batch's figures equal single ones bit for bit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from cost_models.buffers import LEVELS, TENSORS
from cost_models.energy_tables import EnergyTable
from cost_models.exact.names import COUNT_NAMES, WIDE_NAMES
from cost_models.prices import ByPart, ChipPrices, LevelPrices

Counts = Mapping[str, Any]
Sum = Mapping[str, float]
"""How often each count is taken."""

ACCESS_KINDS: Final = ("l1_read", "l1_write", "l2_read", "l2_write", "dram_read", "dram_write")


def value_of(terms: Sum, counts: Counts, start: float = 0) -> Any:
    """The value of a sum; counts that are not kept are zero."""
    total: Any = start
    for name, times in terms.items():
        count = counts.get(name)
        if count is not None:
            total = total + times * count
    return total


def joined(sums: Iterable[Sum]) -> Sum:
    """Some sums as one."""
    found: Counter[str] = Counter()
    for terms in sums:
        found.update(terms)
    return found


def _sum(text: str) -> Sum:
    return {name: -1 if sign else 1 for sign, name in re.findall(r"(-?) ?(\w+)", text)}


def _moves(tile: bool) -> dict[tuple[str, str, str], Sum]:
    suffix = "_tile" if tile else ""
    found: dict[tuple[str, str, str], str] = {}
    for tensor, short in (("input", "in"), ("filter", "fil")):
        found |= {
            ("L1", "read", tensor): f"macs - l1_skipped_{short}",
            ("L1", "write", tensor): f"l1w_{short}",
            ("L2", "read", tensor): f"l2r_{short}{suffix}",
            ("L2", "write", tensor): f"dram_{short} - dram_{short}_direct",
            ("DRAM", "read", tensor): f"dram_{short}",
        }
    # each MAC updates a partial sum in L1, and so do those that are read back
    updates = "macs + l2r_psum + dram_out_r_direct - l1_skipped_out"
    again = "l2r_psum + dram_out_r - dram_out_r_direct"
    finished = "dram_out_w - dram_out_r"  # what is written more often than it is read back
    found |= {
        ("L1", "read", "psum"): updates,
        ("L1", "write", "psum"): updates,
        ("L2", "read", "output"): f"{finished} - dram_out_w_direct + dram_out_r_direct",
        ("L2", "read", "psum"): again,
        ("L2", "write", "output"): f"l2w_out{suffix} - l2r_psum",
        ("L2", "write", "psum"): again,
        ("DRAM", "read", "psum"): "dram_out_r",
        ("DRAM", "write", "output"): finished,
        ("DRAM", "write", "psum"): "dram_out_r",
    }
    return {move: _sum(text) for move, text in found.items()}


MOVES = {tile: _moves(tile) for tile in (False, True)}
"""Elements read from a level and written to it: by level, ``"read"`` or ``"write"``, and part of
`cost_models.prices.ByPart`; for both meanings of ``halo_space``."""

DELIVERIES: Mapping[str, Sum] = {
    "input": _sum("l1w_in + l1_skipped_in"),
    "filter": _sum("l1w_fil + l1_skipped_fil"),
    "psum": _sum("l2r_psum + dram_out_r_direct + l1drain_out"),
}
"""Elements that PEs receive, and that are drained from them, by part."""


def _accesses(moves: Mapping[tuple[str, str, str], Sum]) -> dict[tuple[str, str], Sum]:
    found = {(tensor, kind): Counter[str]() for tensor in TENSORS for kind in ACCESS_KINDS}
    for (level, way, part), terms in moves.items():
        tensor = "output" if part == "psum" else part
        found[tensor, f"{level.lower()}_{way}"].update(terms)
    return {**found}


ACCESSES = {tile: _accesses(moves) for tile, moves in MOVES.items()}
"""Accesses in elements by (tensor, kind), for both meanings of ``halo_space``."""
PARTS: Final = ("mac", "l1", "noc", "l2", "dram")
"""What costs energy by the event: MACs, accesses to each level, deliveries."""
Part = Callable[[Counts], Any]
Events = list[tuple[Any, Sum]]
"""Prices [nJ], and how many counts each is paid for."""


def _parts(of: Callable[[str, Counts], Any]) -> dict[str, Part]:
    return {f"energy_{name}_nj": partial(of, name) for name in PARTS}


def _events(prices: ChipPrices, tile: bool) -> dict[str, Events]:
    """What is paid for in each part of a chip's energy but leakage."""
    found: dict[str, Events] = {name: [] for name in PARTS}
    levels = dict(zip(LEVELS, prices.levels, strict=True))
    found["mac"] = [(prices.mac_nj, {"macs": 1})]
    found["noc"] = [(getattr(prices.noc, part), some) for part, some in DELIVERIES.items()]
    for (level, way, part), some in MOVES[tile].items():
        by_part = getattr(levels[level], way)
        found[level.lower()].append((getattr(by_part, part), some))
    return found


_FREE = ChipPrices(0.0, 0.0, (LevelPrices(ByPart(), ByPart()),) * 3)
EVENTS = {
    tile: {
        name: joined(some for _, some in events) for name, events in _events(_FREE, tile).items()
    }
    for tile in MOVES
}
"""How often each count is an event of a part, for both meanings of ``halo_space``."""


class TableEnergy:
    """One price a level, whatever is moved: MAESTRO's way of adding up.

    Args:
        table: The prices.
        tile: Whether L2 accesses count every tile in full.
    """

    def __init__(self, table: EnergyTable, tile: bool) -> None:
        self._table, self._events = table, EVENTS[tile]
        self.parts = _parts(self._part)

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
        self.parts = _parts(self._part) | {"energy_leakage_nj": self._leakage}

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


def _priced(events: Events, c: Counts) -> Any:
    total = 0.0
    for price, some in events:
        total = total + price * value_of(some, c)
    return total


def _terms(events: Events) -> Sum:
    """The price of every count in a part."""
    one = joined({name: price * times for name, times in some.items()} for price, some in events)
    return {name: one[name] for name in (*COUNT_NAMES, *WIDE_NAMES) if one.get(name)}
