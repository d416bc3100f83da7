"""The wires and ports of a chip at the prices of its node."""

from __future__ import annotations

from dataclasses import replace

from cost_models.accelerator import Accelerator
from cost_models.chain.chip import Chain
from cost_models.technology.parts import REFERENCE_NM, wires


def prices_wires(chip: Accelerator | Chain) -> bool:
    """Whether a chip's file prices any wires or ports."""
    return any(any(level.network) or level.port_um2_per_bit for level in chip.levels)


def with_wires(chip: Accelerator | Chain) -> Accelerator | Chain:
    """A chip whose wires and ports cost what they do at its node; as it is if it prices any.

    Wires are those that lead to other memories: what goes on between a memory and its MACs is not
    priced, nor is the chip's side of DRAM's port, of which no figure was at hand.

    Raises:
        TechnologyError: The data do not reach the chip's node.
    """
    if prices_wires(chip):
        return chip
    network, port = wires(chip.node_nm or REFERENCE_NM)

    if isinstance(chip, Accelerator):
        dram, l2, l1 = chip.levels
        l2 = replace(l2, network=network, port_um2_per_bit=port)
        return replace(chip, levels=(dram, l2, l1))
    levels = list(chip.levels)
    for place, level in enumerate(chip.levels[1:], 1):
        if level.is_memory:
            levels[place] = replace(levels[place], port_um2_per_bit=port)
        if level.fanout.axes and any(one.is_memory for one in chip.levels[place + 1 :]):
            levels[place] = replace(levels[place], network=network)
    return replace(chip, levels=tuple(levels))
