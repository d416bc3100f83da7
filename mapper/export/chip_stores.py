"""The memories of a chip as other tools list them: one for tensors that share a capacity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from cost_models import Chain, ChainPrices, chain_prices, load
from layers import TENSORS
from mapper.export.loop_nest import ExportError, LoopNest

OPEN_BYTES = 1 << 40
"""Capacity of a memory that the chip does not limit [B]; tools want a number."""
OPEN_BITS = 1 << 20
"""Bandwidth of a boundary that the chip does not limit [bits/cycle]."""


@dataclass(frozen=True)
class ChipStore:
    """One memory.

    Args:
        name: Such as ``L2`` or ``L1_filter``.
        level: The level's name.
        tensors: Who lies in it.
        size: Capacity [B].
        read_bits: To the level inside [bits/cycle].
        write_bits: From the level inside [bits/cycle].
        read_pj: Energy of reading a byte [pJ].
        write_pj: Likewise of writing one.
        area_um2: Area of one instance [um^2].
        shared_bw: Whether `read_bits` are all there are for both directions.
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
    shared_bw: bool = False


class ChipStores:
    """The memories of a chip, as far as a mapping keeps something in them.

    Args:
        nest: The mapping.

    Raises:
        ExportError: A level without a capacity cannot be priced.
    """

    def __init__(self, nest: LoopNest) -> None:
        self.nest = nest

    @cached_property
    def prices(self) -> ChainPrices:
        """What every event costs; a level without a capacity costs what the mapping asks of it."""
        chip = self.nest.chip
        if all(level.buffer.total_bits is not None for level in chip.memories):
            return chain_prices(chip, {})
        cost = load("exact").evaluate(self.nest.layer, _unlimited(chip), self.nest.mapping)  # type: ignore[arg-type]
        if cost.infeasible is not None:
            raise ExportError(f"mapping: {cost.infeasible.message}")
        return chain_prices(chip, {name: level.bytes for name, level in cost.levels.items()})

    @cached_property
    def all(self) -> list[ChipStore]:
        """The memories, DRAM first."""
        return [store for level in self.nest.chip.levels for store in self._of(level.name)]

    def at(self, level: str) -> list[ChipStore]:
        """The memories of a level."""
        return [store for store in self.all if store.level == level]

    def _of(self, name: str) -> list[ChipStore]:
        """The memories of a level: the one that tensors share, then those of one tensor."""
        level, kept = self.nest.chip.levels[self.nest.chip.position(name)], self.nest.kept(name)
        buffer, widths = level.buffer, self.nest.chip.widths
        own = {t: bits for t, bits in zip(TENSORS, buffer.tensor_bits, strict=True) if bits}
        shared = tuple(tensor for tensor in kept if tensor not in own)
        parts = [(name, shared, buffer.capacity_bits)] if shared else []
        parts += [(f"{name}_{t}", (t,), bits) for t, bits in own.items() if t in kept]
        found = []
        for part, tensors, bits in parts:
            place = TENSORS.index(tensors[0])
            prices = self.prices.levels[name]
            read, write = (1000 * 8 / widths[place] * p[place] for p in (prices.read, prices.write))
            found.append(
                ChipStore(
                    part,
                    name,
                    tensors,
                    OPEN_BYTES if bits is None else bits // 8,
                    level.read_bw or OPEN_BITS,
                    level.write_bw or OPEN_BITS,
                    float(read),
                    float(write),
                    prices.area_um2 / len(parts),
                    level.shared_bw,
                )
            )
        return found


def _unlimited(chip: Chain) -> Chain:
    none = (None, None, None)
    levels = (replace(level, shared_bytes=None, tensor_bytes=none) for level in chip.levels)
    return replace(chip, levels=tuple(levels))
