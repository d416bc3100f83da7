"""From the kernel's counts to the figures of a cost; numbers or arrays alike.

Every function takes `counts`, which gives a count by name: as a Python integer for one mapping, as
an int64 array for many. Both take the same floating-point operations in the same order, so that a
batch's figures equal single ones bit for bit. All sums of accesses are integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cost_models.physical import EnergyTable, area_um2, power_mw

Counts = Mapping[str, Any]

ACCESS_KINDS = ("l1_read", "l1_write", "l2_read", "l2_write", "dram_read", "dram_write")
DETAILS = (
    "energy_mac_nj",
    "energy_l1_nj",
    "energy_noc_nj",
    "energy_l2_nj",
    "energy_dram_nj",
    "share_compute",
    "share_noc_in",
    "share_noc_out",
    "share_dram",
)
"""Names of `Cost.detail`: the parts of the energy [nJ], and the shares of the latency's cycles that
are bound by compute, by the NoC in each direction, and by DRAM."""


@dataclass(frozen=True)
class Setting:
    """What the figures need besides the counts.

    Args:
        lanes: SIMD lanes of a PE.
        noc_bw: NoC bandwidth, None = unlimited [elements/cycle].
        buffers: Copies of each tile that a buffer holds.
        tile: Whether L2 accesses count every tile in full (``halo_space="tile"``).
        energy: The energy table.
    """

    lanes: int
    noc_bw: int | None
    buffers: int
    tile: bool
    energy: EnergyTable


def _accesses(tile: bool) -> dict[tuple[str, str], Callable[[Counts], Any]]:
    suffix = "_tile" if tile else ""
    l2_in, l2_fil, l2_out = f"l2r_in{suffix}", f"l2r_fil{suffix}", f"l2w_out{suffix}"
    return {
        ("input", "l1_read"): lambda c: c["macs"],
        ("input", "l1_write"): lambda c: c["l1w_in"],
        ("input", "l2_read"): lambda c: c[l2_in],
        ("input", "l2_write"): lambda c: c["dram_in"],
        ("input", "dram_read"): lambda c: c["dram_in"],
        ("input", "dram_write"): lambda c: c["dram_in"] * 0,
        ("filter", "l1_read"): lambda c: c["macs"],
        ("filter", "l1_write"): lambda c: c["l1w_fil"],
        ("filter", "l2_read"): lambda c: c[l2_fil],
        ("filter", "l2_write"): lambda c: c["dram_fil"],
        ("filter", "dram_read"): lambda c: c["dram_fil"],
        ("filter", "dram_write"): lambda c: c["dram_fil"] * 0,
        ("output", "l1_read"): lambda c: c["macs"] + c["l2r_psum"],
        ("output", "l1_write"): lambda c: c["macs"] + c["l2r_psum"],
        ("output", "l2_read"): lambda c: c["l2r_psum"] + c["dram_out_w"],
        ("output", "l2_write"): lambda c: c[l2_out] + c["dram_out_r"],
        ("output", "dram_read"): lambda c: c["dram_out_r"],
        ("output", "dram_write"): lambda c: c["dram_out_w"],
    }


ACCESSES = {tile: _accesses(tile) for tile in (False, True)}
"""Accesses in elements by (tensor, kind), for both meanings of ``halo_space``."""


def l1_accesses(c: Counts) -> Any:
    """L1 reads and writes of all tensors; input and filter are read once a MAC each."""
    return 4 * c["macs"] + c["l1w_in"] + c["l1w_fil"] + 2 * c["l2r_psum"]


def l2_accesses(c: Counts, setting: Setting) -> Any:
    """L2 reads and writes of all tensors, over both of its boundaries."""
    suffix = "_tile" if setting.tile else ""
    noc = c[f"l2r_in{suffix}"] + c[f"l2r_fil{suffix}"] + c["l2r_psum"] + c[f"l2w_out{suffix}"]
    return noc + dram_accesses(c)


def dram_accesses(c: Counts) -> Any:
    """DRAM reads and writes of all tensors."""
    return c["dram_in"] + c["dram_fil"] + c["dram_out_r"] + c["dram_out_w"]


def noc_deliveries(c: Counts) -> Any:
    """Elements that PEs receive, and that are drained from them."""
    return c["l1w_in"] + c["l1w_fil"] + c["l2r_psum"] + c["l1drain_out"]


def energy_nj(c: Counts, setting: Setting) -> Any:
    """Energy [nJ]: every MAC and access at the table's price."""
    return setting.energy.energy_nj(
        c["macs"],
        l1_accesses(c),
        l2_accesses(c, setting),
        dram_accesses(c),
        noc_deliveries(c),
    )


def noc_requirement(c: Counts, setting: Setting) -> Any:
    """NoC bandwidth the mapping asks for: L2 accesses over compute cycles [elements/cycle]."""
    return -(-l2_accesses(c, setting) // c["compute_cycles"])


def offchip_requirement(c: Counts, setting: Setting) -> Any:
    """Off-chip bandwidth the mapping asks for: DRAM accesses over compute cycles."""
    return -(-dram_accesses(c) // c["compute_cycles"])


def _hardware(c: Counts, setting: Setting) -> tuple[Any, ...]:
    bandwidth = setting.noc_bw
    return (
        c["num_pes"],
        setting.lanes,
        c["l1_peak"] * setting.buffers,
        c["l2_peak"] * setting.buffers,
        noc_requirement(c, setting) if bandwidth is None else bandwidth,
    )


def _ratio(a: Any, b: Any) -> Any:
    return (a * 1.0) / (b * 1.0)


FIGURE_OF: dict[str, Callable[[Counts, Setting], Any]] = {
    "latency_cycles": lambda c, s: c["latency"] * 1.0,
    "energy_nj": energy_nj,
    "energy_total_nj": energy_nj,
    "power_mw": lambda c, s: power_mw(*_hardware(c, s)),
    "area_um2": lambda c, s: area_um2(*_hardware(c, s)),
    "throughput_macs_per_cycle": lambda c, s: _ratio(c["macs"], c["latency"]),
    "macs": lambda c, s: c["macs"] * 1.0,
    "l1_bytes": lambda c, s: c["l1_peak"] * s.buffers * 1.0,
    "l2_bytes": lambda c, s: c["l2_peak"] * s.buffers * 1.0,
    "noc_bw_req": lambda c, s: noc_requirement(c, s) * 1.0,
    "offchip_bw_req": lambda c, s: offchip_requirement(c, s) * 1.0,
    "utilized_pes": lambda c, s: _ratio(c["active_pe_steps"], c["steps"]),
    "arithmetic_intensity": lambda c, s: _ratio(c["macs"], dram_accesses(c)),
}
"""The figures of :class:`cost_models.Cost` by name."""

DETAIL_OF: dict[str, Callable[[Counts, Setting], Any]] = {
    "energy_mac_nj": lambda c, s: s.energy.unit_nj * (s.energy.mac * c["macs"]),
    "energy_l1_nj": lambda c, s: s.energy.unit_nj * (s.energy.l1 * l1_accesses(c)),
    "energy_noc_nj": lambda c, s: s.energy.unit_nj * (s.energy.noc * noc_deliveries(c)),
    "energy_l2_nj": lambda c, s: s.energy.unit_nj * (s.energy.l2 * l2_accesses(c, s)),
    "energy_dram_nj": lambda c, s: s.energy.unit_nj * (s.energy.dram * dram_accesses(c)),
    "share_compute": lambda c, s: _ratio(c["bound_compute"], c["latency"]),
    "share_noc_in": lambda c, s: _ratio(c["bound_noc_in"], c["latency"]),
    "share_noc_out": lambda c, s: _ratio(c["bound_noc_out"], c["latency"]),
    "share_dram": lambda c, s: _ratio(c["bound_dram"], c["latency"]),
}
"""`Cost.detail` by name."""
