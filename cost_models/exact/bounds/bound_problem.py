"""Layer, accelerator, options and objective as the arrays that the compiled bounds take."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.exact.bounds.offers import Offers
from cost_models.exact.bounds.price_tables import PriceTables
from layers import DIMS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

D: Final = len(DIMS)
Y: Final = 2  # output rows; dimensions as in `DIMS`
X: Final = 3  # output columns
R: Final = 4
IN: Final = 0
FILTER: Final = 1
OUT: Final = 2
L2: Final = 0
L1: Final = 1
NOC_IN: Final = 0
NOC_OUT: Final = 1
DRAM_IN: Final = 2
DRAM_OUT: Final = 3
HALO_NONE: Final = 0
HALO_RETAIN: Final = 1
HALOS = {"none": HALO_NONE, "retain": HALO_RETAIN}

ENERGIES = ("energy_nj", "energy_total_nj")
BOUNDED = ("latency_cycles", *ENERGIES, "area_um2")
"""Figures that the bounds know."""

# --- `facts`: numbers of the problem -----------------------------------------------------------
EXTENT: Final = 0  # +dimension
STRIDE: Final = D  # +pair (rows, columns): distance of outputs in rows
DILATION: Final = STRIDE + 2  # +pair: distance of taps
SIZE: Final = DILATION + 2  # +tensor: its elements; the input's without rows, columns and taps
BITS: Final = SIZE + 3  # +tensor: bits of an element; the output's of a partial sum
CROSS: Final = BITS + 3  # +tensor: the same over DRAM's boundary; 0 of one that is whole in L2
LEAVE: Final = CROSS + 3  # bits at least of an output that goes to DRAM, where none is read back
BANDWIDTH: Final = LEAVE + 1  # +boundary and direction [bits/cycle]; may be inf
LIMIT: Final = BANDWIDTH + 4  # largest latency [cycles] and energy [nJ] allowed
LANES: Final = LIMIT + 2
AREA: Final = LANES + 1  # +level: area of a bit that L2, or the L1 of every PE, must hold
HELD: Final = AREA + 2  # +3 * level + tensor: bits that an element takes; 0 where it is not held
SLOT: Final = HELD + 6  # +SLOT_FIELDS * (LIMITS * level + slot): a capacity [bits]; then, by
SLOT_FIELDS: Final = 4  # tensor, the bits that an element takes of it
LIMITS: Final = 4
FACTS: Final = SLOT + SLOT_FIELDS * LIMITS * 2

# --- `flags`: its whole numbers ---------------------------------------------------------------
COUPLED: Final = 0  # +tensor: dimensions as bits
POWER: Final = 3  # how often latency, energy and area are factors of the objective
HALO: Final = 6  # what is not fetched again, of `HALOS`
FILLS: Final = 7  # whether the first tiles' fills come before all else in the latency
PHASES: Final = 8  # whether what outer steps move is all that crosses DRAM's boundary in them
PAST: Final = 9  # tensors that pass L2, as bits
STREAMED: Final = 10  # tensors that pass L1
LOOSE: Final = 11  # whether little is known of what input tiles share
FREE: Final = 12  # whether padding is free: then `BITS` of an input element are those of a real one
SLOTS: Final = 13  # +level: capacities
ACTIVE: Final = 15  # number of dimensions whose extent is above 1; +1: which
FLAGS: Final = ACTIVE + 1 + D


class BoundProblem(NamedTuple):
    """One problem, for compiled code; a row for each choice of tensors that pass a buffer.

    Args:
        facts: ``(V, FACTS)`` numbers.
        flags: ``(V, FLAGS)`` whole numbers.
        offers: The tiles that are offered.
        prices: ``(V, ...)`` energies by what buffers must hold.
    """

    facts: Floats
    flags: Ints
    offers: Offers
    prices: PriceTables


class AllocationTables(NamedTuple):
    """The allocations of a space, for compiled code; see :class:`cost_models.Structures`.

    Args:
        fans: ``(F, D)``, no more units than a dimension's extent.
        spread: ``(F,)``.
        arrays: ``(G, 4)``.
        starts: ``(G + 1,)``.
        pes: ``(G,)`` PEs in use.
        areas: ``(G,)`` area but for what the buffers must hold [um^2].
        refused: ``(V,)`` whether no mapping may let so many tensors pass.
    """

    fans: NDArray[np.int32]
    spread: Ints
    arrays: Ints
    starts: Ints
    pes: Floats
    areas: Floats
    refused: NDArray[np.bool_]
