"""Which counts are accesses to which level; numbers or arrays alike.

`counts` gives a count by name: as a Python integer for one mapping, as an int64 array for many.
Every access is a sum of counts, so that energies are linear in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cost_models.buffers import LEVELS, TENSORS

Counts = Mapping[str, Any]
Sum = Callable[[Counts], Any]

ACCESS_KINDS: Final = ("l1_read", "l1_write", "l2_read", "l2_write", "dram_read", "dram_write")
Moves = Mapping[tuple[str, str, str], Sum]
"""By level, ``"read"`` or ``"write"``, and one of `cost_models.prices.PARTS`."""


def _more(c: Counts, name: str) -> Any:
    """A count of `layout.WIDE_NAMES`, which is zero where it is not kept."""
    return c.get(name, 0)


def passing(c: Counts) -> Any:
    """Elements that go between DRAM and PEs without being held in L2."""
    names = ("dram_in_direct", "dram_fil_direct", "dram_out_w_direct", "dram_out_r_direct")
    return sum(_more(c, name) for name in names)


def _updates(c: Counts) -> Any:
    """Partial sums read from L1, and written to it: each MAC's, and those that are read back."""
    back = c["l2r_psum"] + _more(c, "dram_out_r_direct")
    return c["macs"] + back - _more(c, "l1_skipped_out")


def _finished(c: Counts) -> Any:
    """Finished outputs that pass L2."""
    return _more(c, "dram_out_w_direct") - _more(c, "dram_out_r_direct")


def _l2_psums(c: Counts) -> Any:
    """Partial sums read from L2, and written to it."""
    return c["l2r_psum"] + c["dram_out_r"] - _more(c, "dram_out_r_direct")


def _moves(tile: bool) -> dict[tuple[str, str, str], Sum]:
    suffix = "_tile" if tile else ""
    l2_in, l2_fil, l2_out = f"l2r_in{suffix}", f"l2r_fil{suffix}", f"l2w_out{suffix}"
    return {
        ("L1", "read", "input"): lambda c: c["macs"] - _more(c, "l1_skipped_in"),
        ("L1", "write", "input"): lambda c: c["l1w_in"],
        ("L1", "read", "filter"): lambda c: c["macs"] - _more(c, "l1_skipped_fil"),
        ("L1", "write", "filter"): lambda c: c["l1w_fil"],
        ("L1", "read", "psum"): _updates,
        ("L1", "write", "psum"): _updates,
        ("L2", "read", "input"): lambda c: c[l2_in],
        ("L2", "write", "input"): lambda c: c["dram_in"] - _more(c, "dram_in_direct"),
        ("L2", "read", "filter"): lambda c: c[l2_fil],
        ("L2", "write", "filter"): lambda c: c["dram_fil"] - _more(c, "dram_fil_direct"),
        # what is written to a level more often than it is read back is finished
        ("L2", "read", "output"): lambda c: c["dram_out_w"] - c["dram_out_r"] - _finished(c),
        ("L2", "read", "psum"): _l2_psums,
        ("L2", "write", "output"): lambda c: c[l2_out] - c["l2r_psum"],
        ("L2", "write", "psum"): _l2_psums,
        ("DRAM", "read", "input"): lambda c: c["dram_in"],
        ("DRAM", "read", "filter"): lambda c: c["dram_fil"],
        ("DRAM", "read", "psum"): lambda c: c["dram_out_r"],
        ("DRAM", "write", "output"): lambda c: c["dram_out_w"] - c["dram_out_r"],
        ("DRAM", "write", "psum"): lambda c: c["dram_out_r"],
    }


MOVES = {tile: _moves(tile) for tile in (False, True)}
"""Elements that are read from a level and written to it, for both meanings of ``halo_space``."""

DELIVERIES: Mapping[str, Sum] = {
    "input": lambda c: c["l1w_in"] + _more(c, "l1_skipped_in"),
    "filter": lambda c: c["l1w_fil"] + _more(c, "l1_skipped_fil"),
    "psum": lambda c: c["l2r_psum"] + _more(c, "dram_out_r_direct") + c["l1drain_out"],
}
"""Elements that PEs receive, and that are drained from them, by part."""


def _accesses(tile: bool) -> dict[tuple[str, str], Sum]:
    def total(level: str, way: str, tensor: str) -> Sum:
        parts = ("output", "psum") if tensor == "output" else (tensor,)
        found = [MOVES[tile].get((level, way, part)) for part in parts]
        sums = [move for move in found if move is not None]
        if not sums:
            return lambda c: c["macs"] * 0
        if len(sums) == 1:
            return sums[0]
        first, second = sums
        return lambda c: second(c) + first(c)

    return {
        (tensor, f"{level.lower()}_{way}"): total(level, way, tensor)
        for tensor in TENSORS
        for level in reversed(LEVELS)
        for way in ("read", "write")
    }


ACCESSES = {tile: _accesses(tile) for tile in (False, True)}
"""Accesses in elements by (tensor, kind), for both meanings of ``halo_space``."""


def l1_accesses(c: Counts) -> Any:
    """L1 reads and writes of all tensors; input and filter are read once a MAC each."""
    reads = 2 * c["macs"] - _more(c, "l1_skipped_in") - _more(c, "l1_skipped_fil")
    return reads + c["l1w_in"] + c["l1w_fil"] + 2 * _updates(c)


def l2_accesses(c: Counts, tile: bool) -> Any:
    """L2 reads and writes of all tensors, over both of its boundaries."""
    suffix = "_tile" if tile else ""
    noc = c[f"l2r_in{suffix}"] + c[f"l2r_fil{suffix}"] + c["l2r_psum"] + c[f"l2w_out{suffix}"]
    return noc + dram_accesses(c) - passing(c)


def dram_accesses(c: Counts) -> Any:
    """DRAM reads and writes of all tensors."""
    return c["dram_in"] + c["dram_fil"] + c["dram_out_r"] + c["dram_out_w"]


def noc_deliveries(c: Counts) -> Any:
    """Elements that PEs receive, and that are drained from them."""
    return sum(count(c) for count in DELIVERIES.values())
