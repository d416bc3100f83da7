"""What an accelerator's fields must be, and which of them contradict each other.

Every message names the field's path as a file has it, what was expected, and what to change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cost_models.buffers import LEVELS, MAC_KINDS, TENSORS, Buffer, Chip, Level, Widths

if TYPE_CHECKING:
    from cost_models.accelerator import Accelerator

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
    _check_widths(chip.widths)
    if chip.mac_kind and chip.mac_kind not in MAC_KINDS:
        raise AcceleratorError(
            f"accelerator.mac.kind: got {chip.mac_kind!r}, expected one of {', '.join(MAC_KINDS)}"
        )
    for name in ("node_nm", "clock_mhz", "mac_pj", "mac_area_um2"):
        check_number(name, getattr(chip, name), zero=name.startswith("mac"))


def _check_widths(widths: Widths) -> None:
    """Check the bits of each tensor's elements."""
    for name, bits in zip(Widths._fields, widths, strict=True):
        if not is_whole(bits) or not 1 <= bits <= MAX_BITS:
            raise AcceleratorError(
                f"accelerator.bits.{name}: got {bits!r}, expected a whole number of 1 to {MAX_BITS}"
            )
    if widths.psum < widths.output:
        raise AcceleratorError(
            f"accelerator.bits.psum: got {widths.psum}, expected at least bits.output="
            f"{widths.output}, which a partial sum becomes; raise bits.psum or lower bits.output"
        )


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
    for field, value in numbers.items():
        if value is not None and (not is_whole(value) or value <= 0):
            raise AcceleratorError(
                f"accelerator.{where}.{field}: got {value!r}, expected a whole number of at least 1"
            )
    for field in ("read_pj", "write_pj", "leakage_uw", "area_um2", "port_um2_per_bit"):
        check_number(f"{where}.{field}", getattr(level, field), zero=True)
    for field, price in level.network._asdict().items():
        check_number(f"{where}.network.{field}", price, zero=True)


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
