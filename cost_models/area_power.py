"""Area and power by MAESTRO's formulas: plain arithmetic.

They take numbers or NumPy arrays of one shape, and are a part of MAESTRO's kernel. Source: MAESTRO
(commit 4eb08d1), `DSE_hardware_modules.hpp`.
"""

from __future__ import annotations

from marl_common import part


@part
def area_um2(
    num_pes: float, lanes: float, l1_bytes: float, l2_bytes: float, bandwidth: float
) -> float:
    """Area of PEs, buffers, bus and arbiter [um^2].

    Args:
        num_pes: Processing elements of the accelerator, idle ones included.
        lanes: MACs a PE can do in a cycle.
        l1_bytes: L1 a PE needs [B]; 0 counts as 1.
        l2_bytes: L2 the array needs [B]; 0 counts as 1.
        bandwidth: NoC bandwidth [elements/cycle].
    """
    pes = num_pes * 1.0
    ports = 1.2886 * pes * pes + 5.5814 * pes - 23.711
    l1 = l1_bytes + (l1_bytes == 0)
    l2 = l2_bytes + (l2_bytes == 0)
    bus = 101.7938 * (14.662 * pes + 28.895) * bandwidth
    arbiter = 395.473 * (ports * (ports > 1.0) + 1.0 * (ports <= 1.0))
    return pes * (283.0 * lanes + 0.104 * l1) + 0.104 * l2 + bus + arbiter


@part
def power_mw(
    num_pes: float, lanes: float, l1_bytes: float, l2_bytes: float, bandwidth: float
) -> float:
    """Power of PEs, buffers, bus and arbiter [mW]; arguments as in :func:`area_um2`."""
    pes = num_pes * 1.0
    ports = (1.2886 * pes * pes + 5.5814 * pes - 23.711) / 1000.0
    l1 = l1_bytes + (l1_bytes == 0)
    l2 = l2_bytes + (l2_bytes == 0)
    bus = 0.8 * (14.662 * pes + 28.895) / 1000.0 * bandwidth
    arbiter = 0.34 * (ports * (ports > 1.0) + 1.0 * (ports <= 1.0))
    return pes * (1.2223 * lanes + 0.00345 * l1) + 0.00345 * l2 + bus + arbiter
