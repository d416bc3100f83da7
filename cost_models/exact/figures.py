"""From the kernel's counts to the figures of a :class:`Cost` or :class:`CostBatch`.

Every function takes `counts`, which gives a count by name: as a Python integer for one mapping, as
an int64 array for many. Both take the same floating-point operations in the same order, so that a
batch's figures equal single ones bit for bit. All sums of accesses are integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.buffers import TENSORS
from cost_models.chain.cost_columns import CostGroups, in_columns
from cost_models.columns import LazyColumns
from cost_models.cost import FIGURES, Cost, CostBatch
from cost_models.energy_tables import EnergyTable
from cost_models.exact.energy import (
    ACCESS_KINDS,
    ACCESSES,
    EVENTS,
    Counts,
    Energy,
    FixedEnergy,
    RequiredEnergy,
    TableEnergy,
    value_of,
)
from cost_models.exact.names import BOUND_NAMES, COUNT_NAMES, WIDE_NAMES
from cost_models.infeasible import Infeasible
from cost_models.prices import ChipPrices, chip_prices, clock_of, marks, open_levels, table_prices
from cost_models.technology.parts import REFERENCE_NM, logic_scale

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
        counts: ``(B,)`` of :data:`cost_models.exact.row_records.CountRow`.
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
