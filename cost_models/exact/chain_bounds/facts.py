"""What bounds of a chain need to know of a layer, a chip and a way of spreading units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

from cost_models.buffers import TENSORS, Flags
from cost_models.chain.chip import Chain, ChainLevel
from cost_models.chain.level_prices import mac_nj, prices_of
from cost_models.chain.wires import deliveries
from cost_models.exact.limits import rooms_of
from cost_models.exact.nest import FILTER, INPUT, OUTPUT, P
from cost_models.prices import UW_PER_MW, ByPart, LevelPrices, clock_of, is_open
from layers import Layer

Vector = tuple[int, ...]
"""Units, or a tile, along each of KCYXRSNG."""
Spatial = tuple[tuple[Vector, ...], ...]
"""Units along each dimension, by gap between memories (DRAM the first, the MACs behind the last)
and by fan-out in that gap: that of the memory around it, then those of levels that hold nothing."""
PSUM = 3


class Ceiling(NamedTuple):
    """A capacity of a memory [bits], and what an element of each tensor takes of it."""

    bits: float
    widths: tuple[int, int, int]


@dataclass(frozen=True)
class ChainFacts:
    """A layer on a chip under the exact model's counts.

    Args:
        layer: The layer.
        chip: The chip.
        doubled: Whether memories hold twice what the chip can hold twice.
        retain: Whether a memory keeps what it holds of its next tile.
        stepwise: Whether time is the sum over steps of the slowest.
        limits: Largest bits of an instance of a memory, by its name.
        entries: Of uneven mappings, each entry's memory and what it keeps of it, from the outermost
            one; none where every memory stands once and keeps all that it holds.
        residents: Whether input, filter and output are whole in the first memory inside DRAM:
            nothing of them crosses DRAM's port, and they take no room there. Then DRAM's port
            takes no time in bounds.
    """

    layer: Layer
    chip: Chain
    doubled: bool = True
    retain: bool = True
    stepwise: bool = True
    limits: dict[str, float] = field(default_factory=dict)
    entries: tuple[tuple[str, tuple[bool, ...]], ...] = ()
    residents: Flags = (False, False, False)

    @cached_property
    def memories(self) -> tuple[ChainLevel, ...]:
        """DRAM, and all that hold something, from the outermost one; each as often as it stands."""
        levels = {level.name: level for level in self.chip.memories}
        named = [levels[name] for name, _ in self.entries]
        return (self.chip.levels[0], *(named or self.chip.memories))

    @cached_property
    def depth(self) -> int:
        """Memories besides DRAM."""
        return len(self.memories) - 1

    @cached_property
    def relevant(self) -> tuple[frozenset[int], ...]:
        """The dimensions of input, filter and output."""
        return tuple(frozenset(dims) for dims in self.layer.coupled_dims)

    @cached_property
    def keeps(self) -> tuple[tuple[bool, ...], ...]:
        """By memory, whether it keeps input, filter and output."""
        if self.entries:
            return ((True,) * 3, *(kept for _, kept in self.entries))
        return ((True,) * 3, *(level.holds for level in self.memories[1:]))

    def has_port(self, m: int) -> bool:
        """Whether a memory has a port of its own; that of some entries in a row is the last's."""
        return m == self.depth or self.memories[m + 1] is not self.memories[m]

    def keeper(self, tensor: int, m: int) -> int:
        """The nearest memory outside one that keeps a tensor."""
        return self._keepers[tensor][m - 1]

    @cached_property
    def _keepers(self) -> list[list[int]]:
        """By tensor and memory, from the first one behind DRAM to the MACs."""
        return [
            [max(q for q in range(m) if self.keeps[q][t]) for m in range(1, self.depth + 2)]
            for t in range(3)
        ]

    @cached_property
    def innermost(self) -> tuple[int, ...]:
        """The memory that serves the MACs with each tensor."""
        return tuple(self.keeper(t, self.depth + 1) for t in range(3))

    @cached_property
    def prices(self) -> tuple[LevelPrices, ...]:
        """What an element of input, filter, output and partial sum costs in each memory [nJ].

        One without a capacity is priced as the smallest there is. The memory next to the MACs holds
        partial sums alone. Wires that inputs and filters pass are part of it: the last ones on the
        way into a memory are paid for what is written there, those before, which share more, for
        what its keeper reads.
        """
        found = self._own_prices
        for t in (INPUT, FILTER):
            for keeper, m, price, last in self.crossings(t):
                if last and m <= self.depth:
                    found[m] = _dearer(found[m], "write", t, price)
                elif not last:
                    found[keeper] = _dearer(found[keeper], "read", t, price)
        for m, level in enumerate(self.memories):
            if level is self.memories[-1]:
                read, write, leakage = found[m].read, found[m].write, found[m].leakage_uw
                read, write = read._replace(output=read.psum), write._replace(output=write.psum)
                found[m] = LevelPrices(read, write, leakage)
        for t in compress((INPUT, FILTER, OUTPUT), self.residents):
            parts = dict.fromkeys(["output", "psum"] if t == OUTPUT else [TENSORS[t]], 0.0)
            dram, home = found[0], found[1]
            found[0] = replace(
                dram, read=dram.read._replace(**parts), write=dram.write._replace(**parts)
            )
            if t != OUTPUT:
                found[1] = replace(home, write=home.write._replace(**parts))
        return tuple(found)

    @property
    def _own_prices(self) -> list[LevelPrices]:
        return [
            prices_of(self.chip, level, 1 / 8 if place and is_open(level.buffer, level) else None)
            for place, level in enumerate(self.memories)
        ]

    @cached_property
    def _areas(self) -> dict[str, Any]:
        levels = (level.name for level in self.memories)
        return {n: p.area_um2 for n, p in zip(levels, self._own_prices, strict=True)}

    def crossings(self, tensor: int) -> list[tuple[int, int, float, bool]]:
        """Fan-outs that a tensor passes at a price, outputs as partial sums.

        Returns:
            By fan-out the memory outside that keeps the tensor, the one inside (or the MACs), what
            an element costs [nJ], and whether no other fan-out follows before the one inside.
        """
        chip, found = self.chip, []
        width = chip.widths.psum if tensor == OUTPUT else chip.widths[tensor]
        for place, nj in deliveries(chip, self._areas):
            outside = sum(level in chip.levels[: place + 1] for level in self.memories)
            inside = range(outside, self.depth + 1)
            m = next((m for m in inside if self.keeps[m][tensor]), self.depth + 1)
            end = len(chip.levels)
            if m <= self.depth:
                end = chip.position(self.memories[m].name)
            last = all(level.fanout.units == 1 for level in chip.levels[place + 1 : end])
            found.append((self.keeper(tensor, m), m, nj * width, last))
        return found

    @cached_property
    def leakage(self) -> float:
        """What all memories leak in a cycle [nJ]."""
        known = dict(zip((level.name for level in self.memories), self.prices, strict=True))
        found = sum(n * known[level.name].leakage_uw for level, n in self.chip.instances()
                    if level.name in known)  # fmt: skip
        return float(found / UW_PER_MW / clock_of(self.chip))

    @cached_property
    def mac_energy(self) -> float:
        """What all multiply-accumulates cost, with wires that every mapping pays for [nJ]."""
        layer, chip = self.layer, self.chip
        energy = layer.macs * mac_nj(chip)
        for place, nj in deliveries(chip, self._areas):
            if place == len(chip.levels) - 1:
                energy += nj * layer.macs * (chip.widths.input + chip.widths.filter)
        for _, m, price, last in self.crossings(OUTPUT):
            if m > self.depth or not last:  # else by what leaves the memory inside
                energy += price * (layer.macs if last else layer.output_size)
        return float(energy)

    @cached_property
    def rooms(self) -> tuple[tuple[Ceiling, ...], ...]:
        """The capacities of each memory, for what it keeps and its entries around it do."""
        chip = self.chip.widths
        widths = (chip.input, chip.filter, chip.psum)
        found: list[tuple[Ceiling, ...]] = [()]
        for m, level in enumerate(self.memories[1:], 1):
            copies = level.buffer.copies if self.doubled else (1, 1, 1)
            mine = [q for q in range(1, m + 1) if self.memories[q] is level]
            held = [any(self.keeps[q][t] for q in mine) for t in range(3)]
            if m == 1:  # what is whole there has its room apart
                held = [kept and not here for kept, here in zip(held, self.residents, strict=True)]
            each = [w * c if held[t] else 0 for t, (w, c) in
                    enumerate(zip(widths, copies, strict=True))]  # fmt: skip
            rooms = [
                Ceiling(room.bits, tuple(each[t] if t in room.tensors else 0 for t in range(3)))  # type: ignore[arg-type]
                for room in rooms_of(level.buffer, level.buffer.holds)
            ]
            if level.name in self.limits:
                rooms.append(Ceiling(self.limits[level.name], (each[0], each[1], each[2])))
            found.append(tuple(rooms))
        return tuple(found)

    def stride(self, d: int) -> int:
        """Input rows (or columns) from one output to the next."""
        return self.layer.stride_y if d == P else self.layer.stride_x

    def dilation(self, d: int) -> int:
        """Input rows (or columns) from one tap to the next."""
        return self.layer.dilation_y if d == P else self.layer.dilation_x

    def more(self, d: int, taps: int) -> int:
        """Rows that one output more touches beside those of its neighbours, at least."""
        return min(taps, self.stride(d)) if self.dilation(d) == 1 else 1

    def halo(self, d: int, taps: int) -> int:
        """Rows at most that tiles of different outputs both touch."""
        return max(0, self.dilation(d) * (taps - 1) + 1 - self.stride(d))


def _dearer(prices: LevelPrices, way: str, tensor: int, more: float) -> LevelPrices:
    """Prices with one of them raised [nJ]."""
    name = ByPart._fields[tensor]
    by_part = getattr(prices, way)
    return replace(prices, **{way: by_part._replace(**{name: getattr(by_part, name) + more})})


def shared_out(spatial: Spatial, gap: int, d: int, around: int) -> int:
    """The tile around that the units of all fan-outs of a gap but the last one leave."""
    for stage in spatial[gap][:-1]:
        around = -(-around // stage[d])
    return around
