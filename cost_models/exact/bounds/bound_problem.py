"""Layer, accelerator, options and objective as the arrays that the compiled bounds take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.exact.bounds.offers import Offers, offers_of
from cost_models.exact.bounds.price_tables import PriceTables, price_tables
from cost_models.exact.layout import R, Y
from cost_models.exact.numbers import HALOS, coupled_dims, distances, mask_of
from cost_models.lower_bounds import Structures
from layers import DIMS, Layer

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

D: Final = len(DIMS)
IN: Final = 0
FILTER: Final = 1
OUT: Final = 2
L2: Final = 0
L1: Final = 1
NOC_IN: Final = 0
NOC_OUT: Final = 1
DRAM_IN: Final = 2
DRAM_OUT: Final = 3

ENERGIES = ("energy_nj", "energy_total_nj")
BOUNDED = ("latency_cycles", *ENERGIES, "area_um2")
"""Figures that the bounds know."""

# --- `facts`: numbers of the problem -----------------------------------------------------------
EXTENT: Final = 0  # +dimension
STRIDE: Final = D  # +pair (rows, columns): distance of outputs in rows
DILATION: Final = STRIDE + 2  # +pair: distance of taps
SIZE: Final = DILATION + 2  # +tensor: its elements; the input's without rows, columns and taps
CAPACITY: Final = SIZE + 3  # +level: elements that it holds, copies counted; inf = anything
BANDWIDTH: Final = CAPACITY + 2  # +boundary and direction [elements/cycle]; may be inf
LIMIT: Final = BANDWIDTH + 4  # largest latency [cycles] and energy [nJ] allowed
LANES: Final = LIMIT + 2
AREA: Final = LANES + 1  # +level: area of an element that L2, or the L1 of every PE, must hold
FACTS: Final = AREA + 2

# --- `flags`: its whole numbers ---------------------------------------------------------------
COUPLED: Final = 0  # +tensor: dimensions as bits
POWER: Final = 3  # how often latency, energy and area are factors of the objective
HALO: Final = 6  # what is not fetched again, as HALO_NONE to HALO_RETAIN
FILLS: Final = 7  # whether the first tiles' fills come before all else in the latency
ACTIVE: Final = 8  # number of dimensions whose extent is above 1; +1: which
FLAGS: Final = ACTIVE + 1 + D


class BoundProblem(NamedTuple):
    """One problem, for compiled code.

    Args:
        facts: ``(FACTS,)`` numbers.
        flags: ``(FLAGS,)`` whole numbers.
        offers: The tiles that are offered.
        prices: Energies by what buffers must hold.
    """

    facts: Floats
    flags: Ints
    offers: Offers
    prices: PriceTables


def bound_problem(
    model: ExactOptions,
    layer: Layer,
    accelerator: Accelerator,
    figures: Sequence[str],
    limits: Mapping[str, float],
    structures: Structures,
    areas: tuple[float, float],
) -> BoundProblem:
    """Gather what the bounds need.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, of `BOUNDED`.
        limits: Such as ``{"max_latency_cycles": 1e6}``.
        structures: The tiles that are offered.
        areas: Area of an element that L2, or every L1 together, must hold [um^2].
    """
    extents = layer.extents
    coupled = coupled_dims(layer)
    sizes = [
        math.prod(extents[d] for d in dims if tensor != IN or not Y <= d <= R + 1)
        for tensor, dims in enumerate(coupled)
    ]
    pairs = [
        distances(extents[Y + pair], extents[R + pair], stride, dilation)
        for pair, (stride, dilation) in enumerate(
            [(layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x)]
        )
    ]
    chip = model.hardware(accelerator)
    noc, offchip = chip.noc_bw or math.inf, chip.offchip_bw or math.inf
    energy_limit = min(limits.get(f"max_{name}", math.inf) for name in ENERGIES)
    facts = [
        *extents,
        *(stride for stride, _ in pairs),
        *(dilation for _, dilation in pairs),
        *sizes,
        *(math.inf if c is None else c / model.buffers for c in (chip.l2_bytes, chip.l1_bytes)),
        *(noc, noc, offchip, offchip),
        *(limits.get("max_latency_cycles", math.inf), energy_limit),
        chip.simd_lanes,
        *areas,
    ]
    active = [d for d in range(D) if extents[d] > 1]
    flags = [
        *map(mask_of, coupled),
        figures.count("latency_cycles"),
        sum(map(figures.count, ENERGIES)),
        figures.count("area_um2"),
        HALOS[model.halo_time],
        model.latency == "stepwise",
        len(active),
        *active,
        *[0] * (D - len(active)),
    ]
    return BoundProblem(
        np.array(facts, dtype=np.float64),
        np.array(flags, dtype=np.int64),
        offers_of(extents, structures),
        price_tables(layer, model.setting(accelerator), float(sizes[OUT])),
    )
