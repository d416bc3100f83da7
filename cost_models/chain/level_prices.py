"""What every event on a chain costs, by the name of its level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cost_models.chain.chip import Chain
from cost_models.prices import PJ_PER_NJ, LevelPrices, buffer_prices, dram_prices
from cost_models.technology import REFERENCE_NM, mac


class ChainPrices(NamedTuple):
    """What every event on a chain costs.

    Args:
        mac_nj: Energy of one multiply-accumulate [nJ].
        mac_area_um2: Area of one multiply-accumulate unit [um^2].
        levels: DRAM, and each level that holds something.
    """

    mac_nj: float
    mac_area_um2: float
    levels: dict[str, LevelPrices]


def chain_prices(chip: Chain, required: Mapping[str, float]) -> ChainPrices:
    """The prices of a chain.

    Args:
        chip: The chip.
        required: What mappings require of an instance of a level [B], which prices one that has no
            capacity.

    Raises:
        TechnologyError: The data do not reach the chip's node.
    """
    node, widths = chip.node_nm or REFERENCE_NM, chip.widths
    energy, area = mac(widths.psum, widths.input, widths.filter, node)
    levels = {"DRAM": dram_prices(chip.levels[0], widths)}
    for level in chip.memories:
        size = max(1.0, required.get(level.name, 0.0))  # a mapping may leave it empty
        levels[level.name] = buffer_prices(level.buffer, level, widths, node, size)
    return ChainPrices(
        (energy if chip.mac_pj is None else chip.mac_pj) / PJ_PER_NJ,
        area if chip.mac_area_um2 is None else chip.mac_area_um2,
        levels,
    )
