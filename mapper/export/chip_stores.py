"""The memories of a chip as other tools list them: one for tensors that share a capacity."""

from __future__ import annotations

from dataclasses import dataclass

from cost_models import ChipPrices, chip_prices, load
from layers import TENSORS
from mapper.export.loop_factors import ExportError, LoopFactors

OPEN_BYTES = 1 << 40
"""Capacity of a memory that the chip does not limit [B]; tools want a number."""
OPEN_BITS = 1 << 20
"""Bandwidth of a boundary that the chip does not limit [bits/cycle]."""


@dataclass(frozen=True)
class ChipStore:
    """One memory.

    Args:
        name: Such as ``L2`` or ``L1_filter``.
        level: ``DRAM``, ``L2`` or ``L1``.
        tensors: Who lies in it.
        size: Capacity [B].
        read_bits: To the level inside [bits/cycle].
        write_bits: From the level inside [bits/cycle].
        read_pj: Energy of reading a byte [pJ].
        write_pj: Likewise of writing one.
        area_um2: Area of one instance [um^2].
    """

    name: str
    level: str
    tensors: tuple[str, ...]
    size: int
    read_bits: int
    write_bits: int
    read_pj: float
    write_pj: float
    area_um2: float


def stores_of(nest: LoopFactors) -> list[ChipStore]:
    """The memories, DRAM first; one without a capacity is priced at what the mapping holds in it.

    Raises:
        ExportError: That cannot be worked out.
    """
    chip = nest.chip
    prices = prices_of(nest)
    outer, inner = chip.buffers()
    widths = (chip.widths.input, chip.widths.filter, chip.widths.output)

    def per_byte(elements: tuple[float, ...], tensor: str) -> float:
        place = TENSORS.index(tensor)
        return float(1000 * 8 / widths[place] * elements[place])

    dram = prices.levels[0]
    found = [
        ChipStore(
            "DRAM",
            "DRAM",
            TENSORS,
            OPEN_BYTES,
            outer.read_bw or OPEN_BITS,
            outer.write_bw or OPEN_BITS,
            per_byte(dram.read, "input"),
            per_byte(dram.write, "input"),
            0.0,
        )
    ]
    for buffer, level, inside in zip((outer, inner), prices.levels[1:], (inner, None), strict=True):
        read = OPEN_BITS if inside is None else inside.read_bw or OPEN_BITS
        write = OPEN_BITS if inside is None else inside.write_bw or OPEN_BITS
        sharing = tuple(t for t, shares in zip(TENSORS, buffer.sharing, strict=True) if shares)
        parts = [(buffer.name, sharing, buffer.capacity_bits)] if sharing else []
        for tensor, own, held in zip(TENSORS, buffer.tensor_bits, buffer.holds, strict=True):
            if own is not None and held:
                parts.append((f"{buffer.name}_{tensor}", (tensor,), own))
        for name, tensors, bits in parts:
            size = OPEN_BYTES if bits is None else bits // 8
            found.append(
                ChipStore(
                    name,
                    buffer.name,
                    tensors,
                    size,
                    read,
                    write,
                    per_byte(level.read, tensors[0]),
                    per_byte(level.write, tensors[0]),
                    level.area_um2 / len(parts),
                )
            )
    return found


def prices_of(nest: LoopFactors) -> ChipPrices:
    """What every event costs.

    Raises:
        ExportError: A level without a capacity cannot be priced.
    """
    chip = nest.chip
    if all(buffer.total_bits is not None for buffer in chip.buffers()):
        return chip_prices(chip)
    cost = load("exact").evaluate(nest.layer, chip.unlimited_buffers(), nest.mapping)
    if cost.infeasible is not None:
        raise ExportError(f"mapping: {cost.infeasible.message}")
    return chip_prices(chip, cost.l2_bytes, cost.l1_bytes)
