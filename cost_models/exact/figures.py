"""From the kernel's counts to the figures of a :class:`Cost` or :class:`CostBatch`.

Every function takes `counts`, which gives a count by name: as a Python integer for one mapping, as
an int64 array for many. Both take the same floating-point operations in the same order, so that a
batch's figures equal single ones bit for bit. All sums of accesses are integers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.buffers import LEVELS, TENSORS, Widths
from cost_models.chain.cost_columns import CostGroups, in_columns
from cost_models.cost import FIGURES, Cost, CostBatch, LazyColumns
from cost_models.energy_tables import EnergyTable
from cost_models.exact.records import BOUND_NAMES, COUNT_NAMES, WIDE_NAMES
from cost_models.infeasible import Infeasible
from cost_models.prices import ChipPrices, chip_prices, clock_of, marks, open_levels, table_prices
from cost_models.technology.parts import REFERENCE_NM, logic_scale

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


_ANY = table_prices(EnergyTable(), Widths())
EVENTS = {
    tile: {name: joined(some for _, some in events) for name, events in _events(_ANY, tile).items()}
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


PROVISIONED_AREA = "provisioned"
MAESTRO_AREA = "maestro"
AREAS = (PROVISIONED_AREA, MAESTRO_AREA)


@dataclass(frozen=True)
class Setting:
    """What the figures need besides the counts.

    Args:
        accelerator: The chip.
        buffers: Copies of each tile that a buffer holds.
        tile: Whether L2 accesses count every tile in full (``halo_space="tile"``).
        table: The energy table; None for the prices of the chip.
        area: One of `AREAS`; MAESTRO's formulas give the power as well.
        cycle_nj: What each cycle costs besides [nJ].

    Raises:
        TechnologyError: The prices do not reach the chip's node.
    """

    accelerator: Accelerator
    buffers: int
    tile: bool
    table: EnergyTable | None
    area: str
    cycle_nj: float = 0.0

    def __post_init__(self) -> None:
        if self.table is None or self.area == PROVISIONED_AREA:
            logic_scale(self.accelerator.node_nm or REFERENCE_NM)

    @cached_property
    def energy(self) -> Energy:
        """Energies of counts."""
        if self.table is None:
            if self.chip is None:
                return RequiredEnergy(self.prices, self.tile)
            return FixedEnergy(self.chip, self.tile)
        widths = self.accelerator.widths
        if self.table.bits in (None, *widths) and len(set(widths)) == 1:
            return TableEnergy(self.table, self.tile)
        return FixedEnergy(table_prices(self.table, widths), self.tile)

    @cached_property
    def chip(self) -> ChipPrices | None:
        """The chip's prices; None where a buffer without a capacity makes them the mapping's."""
        return None if open_levels(self.accelerator) else chip_prices(self.accelerator)

    def prices(self, counts: Counts) -> ChipPrices:
        """The prices of the chip at the buffer sizes that mappings require."""
        if self.chip is not None:
            return self.chip
        return chip_prices(
            self.accelerator, *(held_bytes(level, counts, self) for level in ("l2", "l1"))
        )

    @cached_property
    def priced(self) -> dict[str, str]:
        """How each buffer is priced, by level; empty where no price depends on its size."""
        by_size = self.table is None or self.area == PROVISIONED_AREA
        return marks(self.accelerator) if by_size else {}

    @cached_property
    def details(self) -> dict[str, Callable[[Counts], Any]]:
        """Of `Cost.detail`: parts of the energy [nJ], and the latency's shares by what binds it."""
        shares = {name.replace("bound", "share"): partial(_share, name) for name in BOUND_NAMES}
        return self.energy.parts | shares

    @cached_property
    def named(self) -> Cost:
        """A cost with the names of all accesses and details, and no figures."""
        kinds = dict.fromkeys(TENSORS, dict.fromkeys(ACCESS_KINDS))
        known = {"accesses": kinds, "detail": self.details, "priced": self.priced}
        return Cost.later(lambda _: {}, **known, by_level={})


def _share(name: str, c: Counts) -> Any:
    return _ratio(c[name], c["latency"])


def held_bytes(level: str, c: Counts, s: Setting) -> Any:
    """What L2, or the L1 of a PE, must hold [B]."""
    bits = c.get(f"{level}_bits")
    if bits is None:
        return c[f"{level}_peak"] * s.buffers * (s.accelerator.widths.input / 8)
    return bits / 8


def energy_nj(c: Counts, s: Setting) -> Any:
    """Energy of every MAC and access, of leakage where the prices know it, and of time [nJ]."""
    total = s.energy.total(c)
    return total + s.cycle_nj * c["latency"] if s.cycle_nj else total


def bandwidth(level: str, c: Counts, s: Setting) -> Any:
    """Bandwidth the mapping asks for: accesses to a level over compute cycles [elements/cycle]."""
    return -(-value_of(EVENTS[s.tile][level], c) // c["compute_cycles"])


def area(c: Counts, s: Setting) -> Any:
    """Area of the chip: PEs and buffers, with MAESTRO's formulas bus and arbiter too [um^2]."""
    if s.area == MAESTRO_AREA:
        return area_um2(*_maestro_hardware(c, s))
    return s.prices(c).area_um2(c["num_pes"], s.accelerator.simd_lanes)


def power(c: Counts, s: Setting) -> Any:
    """Energy over time; by MAESTRO's formulas the power of its hardware at full work [mW]."""
    if s.area == MAESTRO_AREA:
        return power_mw(*_maestro_hardware(c, s))
    return energy_nj(c, s) * clock_of(s.accelerator) / c["latency"]


def _maestro_hardware(c: Counts, s: Setting) -> tuple[Any, ...]:
    given = s.accelerator.noc_bw
    return (
        c["num_pes"],
        s.accelerator.simd_lanes,
        c["l1_peak"] * s.buffers,
        c["l2_peak"] * s.buffers,
        bandwidth("l2", c, s) if given is None else given,
    )


def _ratio(a: Any, b: Any) -> Any:
    return (a * 1.0) / (b * 1.0)


def _intensity(macs: Any, moved: Any) -> Any:
    """MACs an element over DRAM's boundary; NaN where none crosses it."""
    if isinstance(moved, int):
        return _ratio(macs, moved) if moved else math.nan
    return np.where(moved == 0, np.nan, _ratio(macs, moved))


FIGURE_OF: dict[str, Callable[[Counts, Setting], Any]] = {
    "latency_cycles": lambda c, s: c["latency"] * 1.0,
    "energy_nj": energy_nj,
    "energy_total_nj": energy_nj,
    "power_mw": power,
    "area_um2": area,
    "throughput_macs_per_cycle": lambda c, s: _ratio(c["macs"], c["latency"]),
    "macs": lambda c, s: c["macs"] * 1.0,
    "l1_bytes": partial(held_bytes, "l1"),
    "l2_bytes": partial(held_bytes, "l2"),
    "noc_bw_req": lambda c, s: bandwidth("l2", c, s) * 1.0,
    "offchip_bw_req": lambda c, s: bandwidth("dram", c, s) * 1.0,
    "utilized_pes": lambda c, s: _ratio(c["active_pe_steps"], c["steps"]),
    "arithmetic_intensity": lambda c, s: _intensity(c["macs"], value_of(EVENTS[s.tile]["dram"], c)),
    "accesses": lambda c, s: {
        tensor: {kind: value_of(ACCESSES[s.tile][tensor, kind], c) * 1.0 for kind in ACCESS_KINDS}
        for tensor in TENSORS
    },
    "detail": lambda c, s: {name: part(c) for name, part in s.details.items()},
    "counts": lambda c, s: {name: c[name] for name in (*COUNT_NAMES, *WIDE_NAMES) if name in c},
}
"""The figures of :class:`cost_models.Cost` by name, and its fields that hold values by name."""
ENERGIES = ("energy_nj", "energy_total_nj")
"""One energy under two names: this model's own formula has all parts."""


ROW_NAMES = (*COUNT_NAMES, *BOUND_NAMES)
"""Names of the counts of a plain mapping."""


def cost_of(counts: Counts, setting: Setting) -> Cost:
    """The cost of one mapping, or of many by arrays; what nobody looks at is not worked out.

    Args:
        counts: The counts of `ROW_NAMES`, ``num_pes``, and those of `WIDE_NAMES` where the mapping
            or the chip needs them.
        setting: What the figures need besides.
    """

    def find(name: str) -> dict[str, Any]:
        found = FIGURE_OF[name](counts, setting)
        return dict.fromkeys(ENERGIES if name in ENERGIES else (name,), found)

    return Cost.later(find, infeasible=None, priced=setting.priced, by_level={})


def refused(infeasible: Infeasible) -> Cost:
    """The cost of a mapping that has none."""
    return Cost(infeasible, **dict.fromkeys(FIGURES, math.inf))  # type: ignore[arg-type]


class Rows(NamedTuple):
    """What the kernel gives for `B` mappings.

    Args:
        counts: ``(B,)`` of :data:`cost_models.exact.records.CountRow`.
        reasons: ``(B,)`` reason codes, 0 = feasible.
        pes: ``(B,)`` PEs of each mapping.
        wide: ``(B,)``: rows that show the counts of `WIDE_NAMES`.
    """

    counts: NDArray[Any]
    reasons: NDArray[np.int8]
    pes: NDArray[np.int32]
    wide: NDArray[np.bool_]

    def row(self, index: int) -> dict[str, int]:
        """One row's counts as plain integers."""
        names = (*ROW_NAMES, *WIDE_NAMES) if self.wide[index] else ROW_NAMES
        counts = dict(zip(names, self.counts[index].tolist(), strict=False))
        return counts | {"num_pes": int(self.pes[index])}

    def column(self, name: str) -> Any:
        """A count, or `num_pes`, of all rows: ``(B,)`` int64."""
        return self.pes.astype(np.int64) if name == "num_pes" else self.counts[name]


def cost_batch(rows: Rows, setting: Setting, why: Callable[[int], Infeasible]) -> CostBatch:
    """The costs of many mappings; a figure is worked out when it is looked at.

    Args:
        rows: What the kernel gives.
        setting: What the figures need besides.
        why: Builds the report of an infeasible row.
    """
    shown = (*COUNT_NAMES, *WIDE_NAMES) if rows.wide.any() else COUNT_NAMES
    columns = LazyColumns((*shown, *BOUND_NAMES, "num_pes"), rows.column)

    def costs() -> list[Cost]:
        # plain numbers are several times faster than arrays of one
        return [cost_of(rows.row(0) if len(rows.pes) == 1 else columns, setting)]

    def one(row: int) -> Cost:
        return refused(why(row)) if rows.reasons[row] else cost_of(rows.row(row), setting)

    groups = CostGroups(costs, [slice(None)], setting.named)
    return in_columns(groups, rows.reasons, why, one, LazyColumns(shown, rows.column))
