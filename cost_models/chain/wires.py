"""What the wires of a chain cost: by what its fan-outs feed, and how wide its ports are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cost_models.chain.chip import Chain
from cost_models.chain.level_prices import mac_area
from cost_models.exact.nest import INPUT
from cost_models.prices import wire_nj, wires_um2

Areas = Mapping[str, Any]
"""Area of one instance of each memory [um^2], by its name."""


def built_um2(chip: Chain, areas: Areas) -> Any:
    """Area of a chip: MACs, memories, their ports, and wires [um^2]."""
    total: Any = chip.peak_macs_per_cycle * mac_area(chip)
    for level, count in chip.instances():
        total = total + count * areas.get(level.name, 0.0)
    for place, (level, count) in enumerate(chip.instances()):
        if has_wires(chip, place):
            total = total + count * wires_um2(level, _width(chip, place), level.fanout.units)
    return total


def fed_um2(chip: Chain, place: int, areas: Areas) -> Any:
    """Area of the units that an instance of a level feeds, with all that is in them [um^2]."""
    total: Any = mac_area(chip)
    for at in range(len(chip.levels) - 1, place, -1):
        level = chip.levels[at]
        total = level.fanout.units * total + areas.get(level.name, 0.0)
        total = total + wires_um2(level, _width(chip, at), level.fanout.units)
    return chip.levels[place].fanout.units * total


def delivery_nj(chip: Chain, place: int, areas: Areas) -> Any:
    """Energy of a bit that a level's fan-out delivers to a unit, or takes from it [nJ]."""
    network = chip.levels[place].network
    return wire_nj(network, fed_um2(chip, place, areas)) if any(network) else 0.0


def deliveries(chip: Chain, areas: Areas) -> list[tuple[int, float]]:
    """The places of fan-outs whose wires cost energy, with that of a bit [nJ]."""
    found = ((at, float(delivery_nj(chip, at, areas))) for at in range(len(chip.levels)))
    return [(at, price) for at, price in found if price]


def least_delivered(chip: Chain, place: int, macs: Any, elements: Sequence[Any]) -> list[Any]:
    """Elements of each tensor that cross a fan-out, at least, sums among the outputs.

    Every element crosses each of them once. MACs take both operands and give up a sum each time, if
    they are what is fed.

    Args:
        chip: The chip.
        place: The level whose fan-out it is.
        macs: Multiply-accumulates.
        elements: Elements of each tensor that move at all.
    """
    if place < len(chip.levels) - 1:
        return list(elements)
    return [np.minimum(macs, elements[INPUT]), macs, macs]


def has_wires(chip: Chain, place: int) -> bool:
    """Whether a level's ports or wires have an area."""
    level = chip.levels[place]
    return bool(level.port_um2_per_bit or level.network.um2_per_bit)


def _width(chip: Chain, place: int) -> int:
    """Bits a cycle of a level's ports; of the memory around it where it holds nothing."""
    memory = max(at for at in range(place + 1) if at == 0 or chip.levels[at].is_memory)
    level = chip.levels[memory]
    return (level.read_bw or 0) + (level.write_bw or 0)
