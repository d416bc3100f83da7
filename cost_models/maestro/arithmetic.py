"""C++'s arithmetic, where MAESTRO's figures depend on it."""

from __future__ import annotations

from marl_common import part


@part
def quotient(value: int, divisor: int) -> int:
    """Integer division that truncates, as C++ does."""
    if value >= 0:
        return value // divisor
    return -(-value // divisor)


@part
def wrap32(value: int) -> int:
    """The low 32 bits as a signed integer: some of MAESTRO's counters are that narrow."""
    low = value & 0xFFFFFFFF
    return low - 0x100000000 if low >= 0x80000000 else low
