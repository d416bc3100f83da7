"""The accelerator: PEs, memory levels, bandwidths and widths, as one plain frozen value.

What its fields must be, and which of them contradict each other, comes first. Every message names
the field's path as a file has it, what was expected, and what to change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cost_models.buffers import BYTES, LEVELS, MAC_KINDS, TENSORS, Buffer, Chip, Level, Widths
from marl_common import read_yaml

if TYPE_CHECKING:
    from cost_models.chain.chip import Chain

UNLIMITED_BW = 1 << 30
"""What the kernels take for an unlimited bandwidth [elements/cycle] (MAESTRO's own value)."""
SHORT_FIELDS = ("num_pes", "l1_bytes", "l2_bytes", "noc_bw", "offchip_bw", "simd_lanes")
"""The short form: an accelerator that has only these is written with these alone."""
SHORT_PATHS = {
    "l1_bytes": ("levels.L1.bytes",),
    "l2_bytes": ("levels.L2.bytes",),
    "noc_bw": ("levels.L2.read_bw", "levels.L2.write_bw"),
    "offchip_bw": ("levels.DRAM.read_bw", "levels.DRAM.write_bw"),
}
"""Fields of the short form that may be left out, and the paths that say the same: a path takes
their place."""
SHORT_OF = {path: field for field, paths in SHORT_PATHS.items() for path in paths}
MAX_BITS = 1024
"""Widest element that is accepted."""


class AcceleratorError(ValueError):
    """An accelerator that cannot exist, or a name that is not known."""


def is_whole(value: Any) -> bool:
    """Whether a value is an int, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_short(chip: Accelerator) -> None:
    """Check the six fields of the short form."""
    for name in SHORT_FIELDS:
        value = getattr(chip, name)
        if value is None and name in SHORT_PATHS:
            continue
        if not is_whole(value) or value <= 0:
            none = " or null (unlimited)" if name in SHORT_PATHS else ""
            raise AcceleratorError(
                f"accelerator.{name}: got {value!r}, expected a whole number of at least 1{none}"
            )
        if value > UNLIMITED_BW:
            raise AcceleratorError(
                f"accelerator.{name}: got {value}, expected at most {UNLIMITED_BW}"
            )


def check_long(chip: Accelerator) -> None:
    """Check what the long form adds, and that nothing contradicts anything else."""
    check_chip(chip)
    if any(chip.levels[0].network) or any(chip.levels[2].network):
        raise AcceleratorError(
            "accelerator.levels: expected a network of L2 alone, which feeds the PEs; leave the "
            "others out"
        )
    for name, level in zip(LEVELS, chip.levels, strict=True):
        check_memory(f"levels.{name}", level)
        _check_bandwidths(chip, name, level)
    buffers = chip.buffers()
    for buffer in buffers:
        check_buffer(buffer, chip.widths)
    for position, tensor in enumerate(TENSORS):
        if not any(buffer.holds[position] for buffer in buffers):
            names = [f"levels.{buffer.name}.holds" for buffer in buffers]
            raise AcceleratorError(
                f"accelerator.{names[-1]}: leaves {tensor} out, and so does every other level: "
                f"it is kept nowhere; expected it in {' or '.join(names)}; add it there"
            )


def check_elements(sizes: dict[str, int | None]) -> None:
    """Check what kernels that know elements alone take of a chip of the long form.

    Args:
        sizes: Of :meth:`Accelerator.size_in_elements`.
    """
    for name, size in sizes.items():
        if size is None or size <= UNLIMITED_BW:
            continue
        twice = "; a tile that is held once counts its capacity twice"
        what = "elements" + (twice if name.endswith("bytes") else " a cycle")
        raise AcceleratorError(
            f"accelerator.{SHORT_PATHS[name][0]} ({name}): got {size:,} {what}; expected at most "
            f"{UNLIMITED_BW:,}; make it smaller, or leave it out for no limit"
        )


def check_chip(chip: Chip) -> None:
    """Check what is known of a whole chip, but for its levels."""
    for name, bits in zip(Widths._fields, chip.widths, strict=True):
        if not is_whole(bits) or not 1 <= bits <= MAX_BITS:
            raise AcceleratorError(
                f"accelerator.bits.{name}: got {bits!r}, expected a whole number of 1 to {MAX_BITS}"
            )
    if chip.widths.psum < chip.widths.output:
        raise AcceleratorError(
            f"accelerator.bits.psum: got {chip.widths.psum}, expected at least bits.output="
            f"{chip.widths.output}, which a partial sum becomes; raise bits.psum or lower "
            "bits.output"
        )
    if chip.mac_kind and chip.mac_kind not in MAC_KINDS:
        raise AcceleratorError(
            f"accelerator.mac.kind: got {chip.mac_kind!r}, expected one of {', '.join(MAC_KINDS)}"
        )
    for name in ("node_nm", "clock_mhz", "mac_pj", "mac_area_um2"):
        check_number(name, getattr(chip, name), zero=name.startswith("mac"))


def check_number(name: str, value: Any, zero: bool) -> None:
    """Check a finite number that is positive, or zero where that is allowed; None is fine."""
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        least = "of at least 0" if zero else "above 0"
        raise AcceleratorError(f"accelerator.{name}: got {value!r}, expected a number {least}")


def check_memory(where: str, level: Level) -> None:
    """Check the capacities of single tensors, the bandwidths and the prices of a level."""
    numbers = {f"bytes.{t}": v for t, v in zip(TENSORS, level.tensor_bytes, strict=True)}
    numbers |= {"read_bw": level.read_bw, "write_bw": level.write_bw}
    for name, value in numbers.items():
        if value is not None and (not is_whole(value) or value <= 0):
            raise AcceleratorError(
                f"accelerator.{where}.{name}: got {value!r}, expected a whole number of at least 1"
            )
    for name in ("read_pj", "write_pj", "leakage_uw", "area_um2", "port_um2_per_bit"):
        check_number(f"{where}.{name}", getattr(level, name), zero=True)
    for name, price in level.network._asdict().items():
        check_number(f"{where}.network.{name}", price, zero=True)


def _check_bandwidths(chip: Accelerator, name: str, level: Level) -> None:
    for side in ("read_bw", "write_bw"):
        own = getattr(level, side)
        if own is None:
            continue
        shared = SHORT_OF.get(f"levels.{name}.{side}")
        if shared is None:
            raise AcceleratorError(
                f"accelerator.levels.{name}.{side}: got {own}, expected nothing: a PE reads its "
                "own buffer at the pace of its MACs; leave it out"
            )
        if getattr(chip, shared) is not None:
            raise AcceleratorError(
                f"accelerator.{shared}: got {getattr(chip, shared)}, but levels.{name}.{side} is "
                f"{own} bits/cycle already; expected one of the two; leave one out"
            )


def check_buffer(buffer: Buffer, widths: Widths, has_short: bool = True) -> None:
    """Check a buffer's capacities against what it holds.

    Args:
        buffer: The buffer.
        widths: Bits of an element of each tensor.
        has_short: Whether the short form of an accelerator has a field for its capacity.
    """
    where = f"accelerator.levels.{buffer.name}"
    short = f" ({buffer.name.lower()}_bytes is short for it)" if has_short else ""
    if not any(buffer.holds):
        raise AcceleratorError(
            f"{where}.holds: got no tensor, expected at least one of {', '.join(TENSORS)}: no "
            "tensor uses the level; add one"
        )
    if buffer.capacity_bits is not None and not any(buffer.sharing):
        raise AcceleratorError(
            f"{where}.bytes: got {buffer.capacity_bits // 8} to share, but every tensor held there "
            f"has a capacity of its own; expected none to share; leave it out{short}"
        )
    needed = ("input", "filter", "psum")
    tensors = zip(TENSORS, needed, buffer.tensor_bits, buffer.holds, strict=True)
    for tensor, width, own, held in tensors:
        named = f"{where}.bytes" if own is None else f"{where}.bytes.{tensor}"
        if own is not None and not held:
            raise AcceleratorError(
                f"{named}: got {own // 8}, but levels.{buffer.name}.holds leaves {tensor} out; "
                "expected no capacity; leave it out or add the tensor to holds"
            )
        capacity = buffer.capacity_bits if own is None else own
        bits = getattr(widths, width)
        if held and capacity is not None and capacity < bits:
            raise AcceleratorError(
                f"{named}: got {capacity // 8}, expected at least {-(-bits // 8)}, one element of "
                f"{tensor} at bits.{width}={bits}; raise it{short if own is None else ''}"
            )


__all__ = ["UNLIMITED_BW", "Accelerator", "AcceleratorError"]

_PLAIN = (Level(), Level(), Level())


@dataclass(frozen=True, repr=False)
class Accelerator(Chip):
    """A spatial accelerator of two buffer levels over DRAM; None means unlimited.

    The first six fields are the short form, in which an element is one byte. The others, and those
    of `cost_models.buffers.Chip`, say what else is known; :meth:`load` reads them from a file, and
    :func:`cost_models.accelerator_schema` describes that file.

    Args:
        num_pes: Processing elements.
        l1_bytes: L1 of one PE, for the tensors that have no capacity of their own there [B].
        l2_bytes: L2, which all PEs share, likewise [B].
        noc_bw: Bandwidth between L2 and the PEs, per direction [B/cycle].
        offchip_bw: Bandwidth between DRAM and L2, per direction [B/cycle].
        simd_lanes: MACs one PE can do in a cycle.
        levels: What is known besides of the levels, in the order of `LEVELS`.

    Raises:
        AcceleratorError: A field is not what it must be, or contradicts another one.
    """

    num_pes: int
    l1_bytes: int | None = None
    l2_bytes: int | None = None
    noc_bw: int | None = None
    offchip_bw: int | None = None
    simd_lanes: int = 1
    levels: tuple[Level, Level, Level] = field(default=_PLAIN, kw_only=True)

    def __post_init__(self) -> None:
        check_short(self)
        if type(self.widths) is tuple and len(self.widths) == len(BYTES):
            object.__setattr__(self, "widths", Widths(*self.widths))
        if not self.short:
            check_long(self)
            check_elements(self.size_in_elements())

    @classmethod
    def preset(cls, name: str) -> Accelerator:
        """A chip of the library by name.

        Raises:
            AcceleratorError: The name is unknown.
        """
        from cost_models.chips import chip

        return chip(name)

    @classmethod
    def load(cls, text: str) -> Accelerator:
        """A chip of the library by name, or the path of a YAML file.

        Raises:
            AcceleratorError: Neither, or a field of the file is wrong; names file and field.
        """
        path = Path(text)
        if path.suffix not in (".yaml", ".yml"):
            return cls.preset(text)
        return cls.from_dict(read_yaml(path, AcceleratorError), str(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "accelerator") -> Accelerator:
        """The accelerator that :meth:`to_dict`, or a file, describes.

        Args:
            data: The fields.
            where: Start of every message.

        Raises:
            AcceleratorError: A field is unknown, missing or wrong; names its path.
        """
        from cost_models.accelerator_file import from_fields

        return from_fields(data, where)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, as YAML or JSON hold them.

        Returns:
            The six fields of the short form where they say all there is, otherwise those fields of
            the long form that are known.
        """
        if self.short and not self.name:
            return {name: getattr(self, name) for name in SHORT_FIELDS}
        from cost_models.accelerator_file import to_fields

        return to_fields(self)

    def to_levels(self, cluster_size: int | None = None) -> Chain:
        """The same chip as a list of levels; figures of the exact model are equal.

        Args:
            cluster_size: PEs of a cluster, which a mapping of two levels chooses: clusters are a
                level that holds nothing. None: L2 feeds all PEs.
        """
        from cost_models.chain.clusters import to_levels

        return to_levels(self, cluster_size)

    @property
    def short(self) -> bool:
        """Whether the six fields of the short form say all there is."""
        return (
            self.widths == BYTES
            and self.levels == _PLAIN
            and not self.mac_kind
            and self.node_nm is self.clock_mhz is self.mac_pj is self.mac_area_um2 is None
        )

    def buffers(self, doubled: bool = True) -> tuple[Buffer, Buffer]:
        """L2 and L1 as the kernels take them, in bits; `doubled`: what can be held twice is."""
        dram, outer, inner = self.levels
        l2 = outer.in_bits("L2", self.l2_bytes, *dram.rates(self.offchip_bw))
        l1 = inner.in_bits("L1", self.l1_bytes, *outer.rates(self.noc_bw))
        if doubled:
            return l2, l1
        return replace(l2, copies=(1, 1, 1)), replace(l1, copies=(1, 1, 1))

    def is_plain(self, doubled: bool) -> bool:
        """Whether all tensors are alike, so that elements of one size are all there is to count.

        Args:
            doubled: Whether buffers hold twice what the chip can hold twice.
        """
        width = self.widths.input
        return self.short or (
            len(set(self.widths)) == 1
            and all(
                all(buffer.sharing)
                and buffer.copies == (1 + doubled,) * 3
                and buffer.read_bw == buffer.write_bw
                and (buffer.read_bw or 0) % width == 0
                for buffer in self.buffers(doubled)
            )
        )

    def unlimited_buffers(self) -> Accelerator:
        """The same chip with buffers that hold whatever a mapping asks for."""
        levels = [replace(level, tensor_bytes=(None, None, None)) for level in self.levels]
        return replace(self, l1_bytes=None, l2_bytes=None, levels=(levels[0], levels[1], levels[2]))

    def in_elements(self) -> Accelerator:
        """The short form that comes nearest, for kernels that know elements alone.

        A level's capacities count together, each in elements of its tensor (of the widest one where
        tensors share it), and a boundary has the slower of its directions: PEs give partial sums to
        L2, L2 gives outputs to DRAM. The kernels hold every tile twice: a capacity for a tensor
        that the chip holds once counts twice.
        """
        if self.short:
            return self
        l1, l2, noc, offchip = self.size_in_elements().values()
        return Accelerator(self.num_pes, l1, l2, noc, offchip, self.simd_lanes)

    def size_in_elements(self) -> dict[str, int | None]:
        """Capacities [elements] and bandwidths [elements/cycle] in the order of the fields."""
        l2, l1 = self.buffers()
        return {
            "l1_bytes": _elements(l1, self.widths),
            "l2_bytes": _elements(l2, self.widths),
            "noc_bw": _slower(l1, self.widths),
            "offchip_bw": _slower(l2, self.widths),
        }

    def totals(self) -> dict[str, int | None]:
        """The six fields for a table: whole capacities [B], slower directions [B/cycle]."""
        l2, l1 = self.buffers()
        sizes = [None if one.total_bits is None else one.total_bits // 8 for one in (l1, l2)]
        limits = [[bw for bw in (one.read_bw, one.write_bw) if bw is not None] for one in (l1, l2)]
        rates = [min(both) // 8 if both else None for both in limits]
        figures = (self.num_pes, *sizes, *rates, self.simd_lanes)
        return dict(zip(SHORT_FIELDS, figures, strict=True))

    @property
    def peak_macs_per_cycle(self) -> int:
        """MACs the whole array can do in a cycle."""
        return self.num_pes * self.simd_lanes

    def compute_bound(self, macs: int) -> int:
        """Fewest cycles in which the array can do `macs` multiply-accumulates."""
        return -(-macs // self.peak_macs_per_cycle)


def _elements(buffer: Buffer, widths: Widths) -> int | None:
    """All capacities of a buffer in elements of tiles held twice; None where one is unlimited."""
    bits = (widths.input, widths.filter, widths.psum)
    parts = zip(buffer.tensor_bits, buffer.holds, bits, buffer.copies, strict=True)
    total = sum(own // width * (2 // copies) for own, held, width, copies in parts if held and own)
    if not any(buffer.sharing):
        return max(1, total)
    if buffer.capacity_bits is None:
        return None
    widest, most = (max(compress(held, buffer.sharing)) for held in (bits, buffer.copies))
    return total + buffer.capacity_bits // widest * (2 // most)


def _slower(buffer: Buffer, widths: Widths) -> int | None:
    """Elements a cycle over a buffer's outer boundary, in the slower direction."""
    limits = []
    if buffer.read_bw is not None:
        limits.append(buffer.read_bw // max(widths.input, widths.filter))
    if buffer.write_bw is not None:
        limits.append(buffer.write_bw // (widths.output if buffer.name == "L2" else widths.psum))
    return max(1, min(limits)) if limits else None
