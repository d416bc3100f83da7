"""Which counts are accesses to which level; numbers or arrays alike.

Every access is a sum of counts, so that energies are linear in them. A count gives a Python integer
for one mapping, an int64 array for many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cost_models.buffers import LEVELS, TENSORS

Counts = Mapping[str, Any]
Sum = Mapping[str, float]
"""How often each count is taken."""

ACCESS_KINDS: Final = ("l1_read", "l1_write", "l2_read", "l2_write", "dram_read", "dram_write")


def value_of(terms: Sum, counts: Counts, start: float = 0) -> Any:
    """The value of a sum; counts that are not kept are zero."""
    total: Any = start
    for name, times in terms.items():
        count = counts.get(name)
        if count is not None:
            total = total + times * count
    return total


def joined(sums: Iterable[Sum]) -> Sum:
    """Some sums as one."""
    found: Counter[str] = Counter()
    for terms in sums:
        found.update(terms)
    return found


def _sum(text: str) -> Sum:
    return {name: -1 if sign else 1 for sign, name in re.findall(r"(-?) ?(\w+)", text)}


def _moves(tile: bool) -> dict[tuple[str, str, str], Sum]:
    suffix = "_tile" if tile else ""
    found: dict[tuple[str, str, str], str] = {}
    for tensor, short in (("input", "in"), ("filter", "fil")):
        found |= {
            ("L1", "read", tensor): f"macs - l1_skipped_{short}",
            ("L1", "write", tensor): f"l1w_{short}",
            ("L2", "read", tensor): f"l2r_{short}{suffix}",
            ("L2", "write", tensor): f"dram_{short} - dram_{short}_direct",
            ("DRAM", "read", tensor): f"dram_{short}",
        }
    # each MAC updates a partial sum in L1, and so do those that are read back
    updates = "macs + l2r_psum + dram_out_r_direct - l1_skipped_out"
    again = "l2r_psum + dram_out_r - dram_out_r_direct"
    finished = "dram_out_w - dram_out_r"  # what is written more often than it is read back
    found |= {
        ("L1", "read", "psum"): updates,
        ("L1", "write", "psum"): updates,
        ("L2", "read", "output"): f"{finished} - dram_out_w_direct + dram_out_r_direct",
        ("L2", "read", "psum"): again,
        ("L2", "write", "output"): f"l2w_out{suffix} - l2r_psum",
        ("L2", "write", "psum"): again,
        ("DRAM", "read", "psum"): "dram_out_r",
        ("DRAM", "write", "output"): finished,
        ("DRAM", "write", "psum"): "dram_out_r",
    }
    return {move: _sum(text) for move, text in found.items()}


MOVES = {tile: _moves(tile) for tile in (False, True)}
"""Elements read from a level and written to it: by level, ``"read"`` or ``"write"``, and part of
`cost_models.prices.ByPart`; for both meanings of ``halo_space``."""

DELIVERIES: Mapping[str, Sum] = {
    "input": _sum("l1w_in + l1_skipped_in"),
    "filter": _sum("l1w_fil + l1_skipped_fil"),
    "psum": _sum("l2r_psum + dram_out_r_direct + l1drain_out"),
}
"""Elements that PEs receive, and that are drained from them, by part."""

ACCESSES = {
    tile: {
        (tensor, f"{level.lower()}_{way}"): joined(
            moves.get((level, way, part), {})
            for part in (("output", "psum") if tensor == "output" else (tensor,))
        )
        for tensor in TENSORS
        for level in reversed(LEVELS)
        for way in ("read", "write")
    }
    for tile, moves in MOVES.items()
}
"""Accesses in elements by (tensor, kind), for both meanings of ``halo_space``."""

EVENTS = {
    tile: {
        "mac": _sum("macs"),
        "l1": joined(some for (level, *_), some in moves.items() if level == "L1"),
        "noc": joined(DELIVERIES.values()),
        "l2": joined(some for (level, *_), some in moves.items() if level == "L2"),
        "dram": joined(some for (level, *_), some in moves.items() if level == "DRAM"),
    }
    for tile, moves in MOVES.items()
}
"""MACs, all accesses to each level, and all deliveries, for both meanings of ``halo_space``."""
