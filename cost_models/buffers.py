"""What a memory level of a chip is: capacities, widths and bandwidths, as plain frozen values.

Levels go by name and index, from the outermost one: `LEVELS`. Tuples of three follow `TENSORS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final, NamedTuple

TENSORS: Final = ("input", "filter", "output")
LEVELS: Final = ("DRAM", "L2", "L1")
"""Memory levels from the outermost one. DRAM holds everything; the others are buffers."""
BUFFERS: Final = LEVELS[1:]
"""The buffer that holds each level's tiles of a mapping: the shared one, and a PE's own."""
BYTE: Final = 8

DRAM_KINDS: Final = ("HBM3", "HBM2", "LPDDR4", "DDR3")
"""Kinds of DRAM whose energy is known."""

MAC_KINDS: Final = ("aladdin", "int", "fp16", "fp32")
"""Multiply-accumulate units whose prices are known; the first one where a chip names none."""
SRAM_KINDS: Final = ("LSTP", "HP")
"""Transistors of a buffer whose prices are known: of low standby power (the default), and of high
performance."""

Limits = tuple[int | None, int | None, int | None]
Flags = tuple[bool, bool, bool]


class Widths(NamedTuple):
    """Bits of one element of each tensor; partial sums are outputs that are not finished."""

    input: int = 8
    filter: int = 8
    output: int = 8
    psum: int = 8


class Wires(NamedTuple):
    """What the wires from a level to the units that it feeds cost.

    Args:
        pj_per_bit: Energy of a bit delivered to a unit, or given up by it [pJ].
        pj_per_bit_mm: The same for each mm of the way: half the side of the square of the area
            that is fed [pJ].
        um2_per_bit: Area at each unit for a bit of the level's ports [um^2].
    """

    pj_per_bit: float = 0.0
    pj_per_bit_mm: float = 0.0
    um2_per_bit: float = 0.0


_NO_WIRES: Final = Wires()
BYTES: Final = Widths()
"""Every element is a byte."""


def given(own: Any, otherwise: Any) -> Any:
    """A value, or another one where it is None."""
    return otherwise if own is None else own


def known_fields(value: Any) -> str:
    """The text of a dataclass without fields that have their defaults."""
    items = sorted(fields(value), key=lambda item: bool(item.kw_only))
    known = (item for item in items if getattr(value, item.name) != item.default)
    said = ", ".join(f"{item.name}={getattr(value, item.name)!r}" for item in known)
    return f"{type(value).__name__}({said})"


@dataclass(frozen=True, repr=False)
class Level:
    """What is known of a level besides the capacity that its tensors share.

    Args:
        tensor_bytes: Capacity that a tensor has for itself [B]; None where it shares the level's.
        holds: Whether the level holds a tensor at all; one that it does not hold bypasses it.
        double_buffer: Whether a tensor's tile is held twice (where the cost model double-buffers).
        read_bw: Bandwidth of reading this level from inside [bits/cycle]; None takes the
            accelerator's `offchip_bw` (DRAM) or `noc_bw` (L2).
        write_bw: Bandwidth of writing this level from inside [bits/cycle]; None likewise.
        kind: Kind of DRAM, such as ``"LPDDR4"``, or of a buffer's transistors, of `SRAM_KINDS`;
            empty where it is not known.
        read_pj: Energy of reading one byte [pJ]; None takes the energy table's.
        write_pj: Energy of writing one byte [pJ]; None takes the energy table's.
        leakage_uw: Leakage of one instance of the level [uW]; None takes the energy table's.
        area_um2: Area of one instance of the level [um^2]; None takes the area table's.
        port_um2_per_bit: Area of its ports to what lies inside, for a bit a cycle [um^2].
        network: The wires to what lies inside.
    """

    tensor_bytes: Limits = (None, None, None)
    holds: Flags = (True, True, True)
    double_buffer: Flags = (True, True, True)
    read_bw: int | None = None
    write_bw: int | None = None
    kind: str = ""
    read_pj: float | None = None
    write_pj: float | None = None
    leakage_uw: float | None = None
    area_um2: float | None = None
    port_um2_per_bit: float = 0.0
    network: Wires = _NO_WIRES

    def in_bits(
        self, name: str, shared: int | None, read_bw: int | None, write_bw: int | None
    ) -> Buffer:
        """The level as a buffer, with what it shares [B] and the bandwidths at its outer side."""
        sizes = (shared, *self.tensor_bytes)
        capacity, a, b, c = (None if size is None else 8 * size for size in sizes)
        i, f, o = (1 + twice for twice in self.double_buffer)
        return Buffer(name, capacity, (a, b, c), (i, f, o), self.holds, read_bw, write_bw)

    def rates(self, both: int | None) -> tuple[int | None, int | None]:
        """Bits a cycle read from it, and written to it; `both` [B/cycle] where it says nothing."""
        bits = None if both is None else BYTE * both
        return given(self.read_bw, bits), given(self.write_bw, bits)

    __repr__ = known_fields


@dataclass(frozen=True)
class Buffer:
    """A buffer as the kernels take it: plain integers, in bits.

    Args:
        name: The level's name.
        capacity_bits: What the tensors without a capacity of their own share; None = unlimited.
        tensor_bits: Each tensor's own capacity; None where it shares `capacity_bits`.
        copies: Copies of each tensor's tile that it holds: 2 where double-buffered.
        holds: Whether it holds a tensor at all.
        read_bw: What it can take from the level outside it [bits/cycle]; None = unlimited.
        write_bw: What it can give to the level outside it [bits/cycle]; None = unlimited.
    """

    name: str
    capacity_bits: int | None
    tensor_bits: Limits
    copies: tuple[int, int, int]
    holds: Flags
    read_bw: int | None
    write_bw: int | None

    @property
    def sharing(self) -> Flags:
        """Whether a tensor is held in the capacity that is shared."""
        flags = zip(self.holds, self.tensor_bits, strict=True)
        a, b, c = (held and own is None for held, own in flags)
        return a, b, c

    @cached_property
    def total_bits(self) -> int | None:
        """All of its capacity; None where a tensor's is unlimited."""
        pairs = zip(self.holds, self.tensor_bits, strict=True)
        own = sum(bits or 0 for held, bits in pairs if held)
        if not any(self.sharing):
            return own
        return None if self.capacity_bits is None else own + self.capacity_bits


@dataclass(frozen=True, kw_only=True, repr=False)
class Chip:
    """What is known of a whole chip, whatever its levels.

    Args:
        name: What the chip is called; it makes no two chips different.
        node_nm: Technology node [nm]; None is the node of the energy points.
        clock_mhz: Clock [MHz]; None where it is not known.
        widths: Bits of an element of each tensor.
        mac_kind: Unit that prices a multiply-accumulate, of `MAC_KINDS`; empty is the first.
        mac_pj: Energy of one multiply-accumulate [pJ]; None takes the energy table's.
        mac_area_um2: Area of one multiply-accumulate unit [um^2]; None takes the area table's.
    """

    name: str = field(default="", compare=False)
    node_nm: float | None = None
    clock_mhz: float | None = None
    widths: Widths = BYTES
    mac_kind: str = ""
    mac_pj: float | None = None
    mac_area_um2: float | None = None

    __repr__ = known_fields
