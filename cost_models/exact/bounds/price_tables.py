"""Energies as linear functions of what moves, read off the model's own figure.

Where a buffer has no capacity, it is priced at what a mapping requires of it, and larger buffers
cost more an access: a table by its size then gives the prices of the size below.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

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
    fixed = _prices(layer, setting, outputs, 1.0, 1.0)
    scale = np.zeros(2)
    if not names:
        return PriceTables(fixed, np.zeros((2, 1, PRICES)), scale)
    doublings = math.log2(layer.input_size + layer.filter_size + layer.output_size) + 1
    sizes = 2 ** (np.arange(SIZES) * doublings / (SIZES - 1))
    more = np.zeros((2, SIZES, PRICES))
    if "L2" in names:
        scale[0] = (SIZES - 1) / doublings
        more[0] = _prices(layer, setting, outputs, sizes, 1.0) - fixed
    if "L1" in names:
        scale[1] = (SIZES - 1) / doublings
        more[1] = _prices(layer, setting, outputs, 1.0, sizes) - fixed
    # of a size and all larger ones the least
    return PriceTables(fixed, np.minimum.accumulate(more[:, ::-1], axis=1)[:, ::-1], scale)


def _prices(layer: Layer, setting: Setting, outputs: float, l2: Any, l1: Any) -> Any:
    """``(PRICES,)`` prices at the sizes that the buffers must hold; a row each for arrays."""
    nothing: dict[str, Any] = dict.fromkeys(COUNT_NAMES, 0)
    nothing |= {"num_pes": 0, "l2_peak": l2, "l1_peak": l1}

    def energy(**counts: float) -> Any:
        return energy_nj(nothing | counts, setting)

    def price(*names: str) -> Any:
        return energy(**dict.fromkeys(names, 1))

    suffix = "_tile" if setting.tile else ""
    inputs, filters, written = f"l2r_in{suffix}", f"l2r_fil{suffix}", f"l2w_out{suffix}"
    leakage = price("latency")
    # the first write of each output is not read back
    first = outputs * (price("dram_out_r") + price("l2r_psum"))
    columns = [
        *(price("dram_in"), price("dram_fil"), price("dram_out_w", "dram_out_r")),
        *(price(inputs), price(filters), price(written, "l2r_psum")),
        *(price("l1w_in"), price("l1w_fil"), price("l1drain_out")),
        energy(macs=layer.macs) - first,
        leakage,
        energy(latency=1, num_pes=1) - leakage,
    ]
    return np.stack(np.broadcast_arrays(*columns), axis=-1).astype(np.float64)
