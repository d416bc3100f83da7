"""A cache and TLB simulator for machines without hardware counters.

Set-associative caches with least-recently-used replacement, looked up one after the other, and two
levels of data TLB. It replays the addresses that a gather really reads (see ``addresses.py``), one
access a cache line. There is no prefetching and nothing else runs, so its counts compare layouts
and laws; they are no prediction of a machine's counters, and are labelled ``simulated``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled

LINE = 64
PAGE = 4096


@dataclass(frozen=True)
class CacheLevel:
    """One level: ``sets`` times ``ways`` entries of ``grain`` bytes."""

    name: str
    sets: int
    ways: int
    grain: int


def level(name: str, size: int, ways: int, grain: int = LINE) -> CacheLevel:
    """A level that covers ``size`` bytes."""
    return CacheLevel(name, size // (ways * grain), ways, grain)


# A recent server core: 32 KiB L1, 1 MiB L2, 32 MiB L3; 64 and 1536 entries of data TLB.
CACHES = (level("l1", 32 << 10, 8), level("l2", 1 << 20, 16), level("l3", 32 << 20, 16))
TLBS = (level("tlb1", 64 * PAGE, 64, PAGE), level("tlb2", 1536 * PAGE, 12, PAGE))


class Simulator:
    """Caches and TLBs that remember between traces."""

    def __init__(self) -> None:
        self._tables = [
            np.full((x.sets, x.ways), -1, dtype=np.int64) for x in (*CACHES, *TLBS)
        ]  # fmt: skip

    def run(self, lines: NDArray[np.int64]) -> dict[str, int]:
        """Replay accesses.

        Args:
            lines: ``(A,)`` addresses divided by the line size, in order.

        Returns:
            Accesses and misses: ``accesses``, ``l1_misses``, ``l2_misses``, ``cache_misses`` (of
            the last level), ``dtlb_misses`` (of the first level), ``page_walks`` (of the second).
        """
        misses = [
            _chain(lines, self._tables[:3]),
            _chain(lines // (PAGE // LINE), self._tables[3:]),
        ]
        (l1, l2, l3), (tlb, walks) = misses
        return {
            "accesses": len(lines), "l1_misses": l1, "l2_misses": l2, "cache_misses": l3,
            "dtlb_misses": tlb, "page_walks": walks,
        }  # fmt: skip


def _chain(tags: NDArray[np.int64], tables: list[NDArray[np.int64]]) -> list[int]:
    """Misses at each level; a level sees only what missed before."""
    counts = []
    for table in tables:
        missed = _filter(tags, table)
        tags = tags[missed]
        counts.append(len(tags))
    return counts


@compiled
def _filter(tags: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which accesses miss; ways are kept most recent first."""
    missed = np.zeros(len(tags), dtype=np.bool_)
    sets, ways = table.shape
    for k in range(len(tags)):
        tag = tags[k]
        row = table[tag % sets]
        at = ways - 1
        found = False
        for way in range(ways):
            if row[way] == tag:
                at, found = way, True
                break
        missed[k] = not found
        for way in range(at, 0, -1):
            row[way] = row[way - 1]
        row[0] = tag
    return missed
