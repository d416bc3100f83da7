"""The memories of a chip as other tools list them: one for tensors that share a capacity."""

from __future__ import annotations

from dataclasses import dataclass

from cost_models import Accelerator, chip_prices
from layers import TENSORS

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
        read_pj: Energy of reading a byte of an input [pJ].
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


def stores_of(chip: Accelerator) -> list[ChipStore]:
    """The memories, DRAM first."""
    dram, l2, l1 = chip_prices(chip, 1.0, 1.0).levels
    outer, inner = chip.buffers()
    per_byte = 1000 * 8 / chip.widths.input
    found = [
        ChipStore(
            "DRAM",
            "DRAM",
            TENSORS,
            OPEN_BYTES,
            outer.read_bw or OPEN_BITS,
            outer.write_bw or OPEN_BITS,
            dram.read[0] * per_byte,
            dram.write[0] * per_byte,
            0.0,
        )
    ]
    for buffer, prices, inside in ((outer, l2, inner), (inner, l1, None)):
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
                    prices.read[0] * per_byte,
                    prices.write[0] * per_byte,
                    prices.area_um2 / len(parts),
                )
            )
    return found
