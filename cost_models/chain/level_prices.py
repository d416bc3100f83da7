"""What every event on a chain costs, by the name of its level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cost_models.buffers import BYTE
from cost_models.chain.chip import Chain, ChainLevel
from cost_models.prices import PJ_PER_NJ, LevelPrices, buffer_prices, dram_prices, is_open
from cost_models.technology.parts import REFERENCE_NM, mac


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
    levels = (chip.levels[0], *chip.memories)
    prices = {level.name: prices_of(chip, level, required.get(level.name, 0.0)) for level in levels}
    return ChainPrices(mac_nj(chip), mac_area(chip), prices)


def prices_of(chip: Chain, level: ChainLevel, required: Any) -> LevelPrices:
    """The prices of a level; `required` [B] prices one without a capacity."""
    if level is not chip.levels[0] and is_open(level.buffer, level):
        least = np.maximum(required, 1 / BYTE)  # one of which a mapping asks nothing
        return _memory_prices(chip, level, least)
    if level.name not in chip.known:
        chip.known[level.name] = (
            dram_prices(level, chip.widths)
            if level is chip.levels[0]
            else _memory_prices(chip, level, required)
        )
    found: LevelPrices = chip.known[level.name]
    return found


def _memory_prices(chip: Chain, level: ChainLevel, required: Any) -> LevelPrices:
    node = chip.node_nm or REFERENCE_NM
    return buffer_prices(level.buffer, level, chip.widths, node, required)


def mac_nj(chip: Chain) -> float:
    """Energy of a multiply-accumulate [nJ]."""
    return (_mac(chip)[0] if chip.mac_pj is None else chip.mac_pj) / PJ_PER_NJ


def mac_area(chip: Chain) -> float:
    """Area of a multiply-accumulate unit [um^2]."""
    return _mac(chip)[1] if chip.mac_area_um2 is None else chip.mac_area_um2


def _mac(chip: Chain) -> tuple[float, float]:
    return mac(chip.widths, chip.node_nm or REFERENCE_NM, chip.mac_kind)
