"""A chip as the counts are made for it: buffers, bandwidths and widths, in bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

from cost_models.accelerator import Accelerator
from cost_models.buffers import TENSORS, Buffer, Flags

BYTE = 8
Tensors = frozenset[str]


@dataclass(frozen=True)
class Machine:
    """A chip under a choice of double buffering.

    Args:
        chip: The chip.
        doubled: Whether buffers hold twice what the chip can hold twice.
    """

    chip: Accelerator
    doubled: bool

    @cached_property
    def buffers(self) -> tuple[Buffer, Buffer]:
        """L2 and L1."""
        l2, l1 = self.chip.buffers()
        if self.doubled:
            return l2, l1
        return replace(l2, copies=(1, 1, 1)), replace(l1, copies=(1, 1, 1))

    @property
    def widths(self) -> tuple[int, int, int, int]:
        """Bits of input, filter, output and partial sum."""
        return self.chip.widths

    @cached_property
    def plain(self) -> bool:
        """Whether all tensors are alike, so that elements of one size are all there is to count."""
        if self.chip.short:
            return True
        width = self.widths[0]
        copies = (2 if self.doubled else 1,) * 3
        return len(set(self.widths)) == 1 and all(
            all(buffer.sharing)
            and buffer.copies == copies
            and buffer.read_bw == buffer.write_bw
            and (buffer.read_bw or 0) % width == 0
            for buffer in self.buffers
        )

    @property
    def holds(self) -> tuple[Flags, Flags]:
        """Which tensors L2, and L1, hold at all."""
        return self.buffers[0].holds, self.buffers[1].holds

    def passes(self, bypass: tuple[Tensors, Tensors]) -> tuple[Tensors, Tensors]:
        """The tensors that pass L2, and L1, where a mapping has some pass besides the chip's."""
        l2, l1 = (
            passing | (frozenset(TENSORS) - set(compress(TENSORS, holds)))
            for passing, holds in zip(bypass, self.holds, strict=True)
        )
        return l2, l1
