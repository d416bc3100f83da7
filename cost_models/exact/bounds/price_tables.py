"""Energies as linear functions of what moves, read off the model's own figure.

Where a buffer has no capacity, it is priced at what a mapping requires of it, and larger buffers
cost more an access: a table by its size then gives the prices of the size below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.exact.figures import Setting, energy_nj
from cost_models.exact.layout import COUNT_NAMES
from cost_models.prices import open_levels
from layers import Layer

# columns of a price table
DRAM: Final = 0  # +tensor: energy of an element over DRAM's boundary [nJ]
NOC: Final = 3  # +tensor: of a distinct one over the NoC
PE: Final = 6  # +tensor: of one that a PE receives or gives
BASE: Final = 9  # of all that no mapping changes
LEAKAGE: Final = 10  # of a cycle, PEs apart
PE_LEAKAGE: Final = 11  # of a cycle of a PE
PRICES: Final = 12
SIZES: Final = 2048
"""Sizes in a table, evenly spaced in their logarithm."""


class PriceTables(NamedTuple):
    """Prices by what the buffers must hold.

    Args:
        fixed: ``(PRICES,)`` prices where both buffers hold one element.
        more: ``(2, n, PRICES)`` what prices are above those, by the size of L2 and of L1; one row
            where both have a capacity.
        scale: ``(2,)`` rows per doubling of the size; 0 where the size changes no price.
    """

    fixed: NDArray[np.float64]
    more: NDArray[np.float64]
    scale: NDArray[np.float64]


def price_tables(layer: Layer, setting: Setting, outputs: float) -> PriceTables:
    """The prices of a layer's energy.

    Args:
        layer: The layer.
        setting: The accelerator, prices and options.
        outputs: Elements of the output.
    """
    names = open_levels(setting.accelerator) if setting.table is None else ()
    fixed = _prices(layer, setting, outputs, (1, 1))
    scale = np.zeros(2)
    if not names:
        return PriceTables(fixed, np.zeros((2, 1, PRICES)), scale)
    largest = layer.input_size + layer.filter_size + layer.output_size
    doublings = math.log2(largest) + 1
    more = np.zeros((2, SIZES, PRICES))
    for level, name in enumerate(("L2", "L1")):
        if name in names:
            scale[level] = (SIZES - 1) / doublings
            for row in range(SIZES):
                size = 2 ** (row / scale[level])
                sizes = (size, 1.0) if level == 0 else (1.0, size)
                more[level, row] = _prices(layer, setting, outputs, sizes) - fixed
    return PriceTables(fixed, np.minimum.accumulate(more[:, ::-1], axis=1)[:, ::-1], scale)


def _prices(
    layer: Layer, setting: Setting, outputs: float, sizes: Sequence[float]
) -> NDArray[np.float64]:
    nothing: dict[str, float] = dict.fromkeys(COUNT_NAMES, 0)
    nothing |= {"num_pes": 0, "l2_peak": sizes[0], "l1_peak": sizes[1]}

    def energy(**counts: float) -> float:
        return float(energy_nj(nothing | counts, setting))

    def price(*names: str) -> float:
        return energy(**dict.fromkeys(names, 1))

    suffix = "_tile" if setting.tile else ""
    inputs, filters, written = f"l2r_in{suffix}", f"l2r_fil{suffix}", f"l2w_out{suffix}"
    leakage = price("latency")
    # the first write of each output is not read back
    first = outputs * (price("dram_out_r") + price("l2r_psum"))
    return np.array(
        [
            *(price("dram_in"), price("dram_fil"), price("dram_out_w", "dram_out_r")),
            *(price(inputs), price(filters), price(written, "l2r_psum")),
            *(price("l1w_in"), price("l1w_fil"), price("l1drain_out")),
            energy(macs=layer.macs) - first,
            leakage,
            energy(latency=1, num_pes=1) - leakage,
        ]
    )
