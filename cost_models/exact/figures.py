"""From the kernel's counts to the figures of a cost; numbers or arrays alike.

Every function takes `counts`, which gives a count by name: as a Python integer for one mapping, as
an int64 array for many. Both take the same floating-point operations in the same order, so that a
batch's figures equal single ones bit for bit. All sums of accesses are integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.exact.accesses import EVENTS, Counts, value_of
from cost_models.exact.energy import Energy, FixedEnergy, RequiredEnergy, TableEnergy
from cost_models.physical import EnergyTable
from cost_models.prices import (
    ChipPrices,
    chip_prices,
    clock_of,
    marks,
    open_levels,
    table_prices,
)
from cost_models.technology import REFERENCE_NM, logic_scale

SHARES = ("share_compute", "share_noc_in", "share_noc_out", "share_dram")
"""Shares of the latency's cycles that compute, the NoC in each direction, and DRAM bind."""
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
    """

    accelerator: Accelerator
    buffers: int
    tile: bool
    table: EnergyTable | None
    area: str

    def check(self) -> None:
        """Find out whether the prices reach the chip.

        Raises:
            TechnologyError: They do not reach its node.
        """
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
        return chip_prices(self.accelerator, l2_bytes(counts, self), l1_bytes(counts, self))

    @cached_property
    def priced(self) -> dict[str, str]:
        """How each buffer is priced, by level; empty where no price depends on its size."""
        by_size = self.table is None or self.area == PROVISIONED_AREA
        return marks(self.accelerator) if by_size else {}


def _held_bytes(level: str, c: Counts, s: Setting) -> Any:
    bits = c.get(f"{level}_bits")
    if bits is None:
        return c[f"{level}_peak"] * s.buffers * (s.accelerator.widths.input / 8)
    return bits / 8


def l1_bytes(c: Counts, s: Setting) -> Any:
    """What the L1 of a PE must hold [B]."""
    return _held_bytes("l1", c, s)


def l2_bytes(c: Counts, s: Setting) -> Any:
    """What L2 must hold [B]."""
    return _held_bytes("l2", c, s)


def energy_nj(c: Counts, s: Setting) -> Any:
    """Energy of every MAC and access, and of leakage where the prices know it [nJ]."""
    return s.energy.total(c)


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


FIGURE_OF: dict[str, Callable[[Counts, Setting], Any]] = {
    "latency_cycles": lambda c, s: c["latency"] * 1.0,
    "energy_nj": energy_nj,
    "energy_total_nj": energy_nj,
    "power_mw": power,
    "area_um2": area,
    "throughput_macs_per_cycle": lambda c, s: _ratio(c["macs"], c["latency"]),
    "macs": lambda c, s: c["macs"] * 1.0,
    "l1_bytes": l1_bytes,
    "l2_bytes": l2_bytes,
    "noc_bw_req": lambda c, s: bandwidth("l2", c, s) * 1.0,
    "offchip_bw_req": lambda c, s: bandwidth("dram", c, s) * 1.0,
    "utilized_pes": lambda c, s: _ratio(c["active_pe_steps"], c["steps"]),
    "arithmetic_intensity": lambda c, s: _ratio(c["macs"], value_of(EVENTS[s.tile]["dram"], c)),
}
"""The figures of :class:`cost_models.Cost` by name."""
ENERGIES = ("energy_nj", "energy_total_nj")
"""One energy under two names: this model's own formula has all parts."""
PRICED = (*ENERGIES, "power_mw", "area_um2")
"""The figures that depend on prices."""


def details(s: Setting) -> tuple[str, ...]:
    """Names of `Cost.detail`: the parts of the energy [nJ], and `SHARES`."""
    return (*s.energy.parts, *SHARES)


def detail(name: str, c: Counts, s: Setting) -> Any:
    """A value of `Cost.detail`."""
    if name in SHARES:
        return _ratio(c[name.replace("share", "bound")], c["latency"])
    return s.energy.parts[name](c)
