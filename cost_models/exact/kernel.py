"""The compiled entry points: the counts of nests."""

from __future__ import annotations

from cost_models.exact.counting import count, find_keepers
from cost_models.exact.records import COUNTED, CountRow, Counts, MappingRow, Nest, Work
from cost_models.exact.two_level_rows import evaluate_row, fill_row
from marl_common import Int8Array, IntArray, address, entry


@entry
def count_nests(works: Work, nests: Nest, counts: Counts, status: IntArray, size: int) -> None:
    """Count nests, the first `size` of some.

    Args:
        works: ``(1,)`` work space.
        nests: ``(B,)`` nests.
        counts: ``(B,)``, filled where the nest was counted.
        status: ``(B,)``: COUNTED, or why there are no counts.
        size: How many.
    """
    work = address(works[0])
    for row in range(size):
        work.nest = nests[row]
        work.known = -1
        status[row] = count(work)
        if status[row] == COUNTED:
            counts[row] = work.counts


@entry
def evaluate_rows(
    works: Work, chips: Nest, mappings: MappingRow, rows: CountRow, reasons: Int8Array, size: int
) -> None:
    """Count mappings of two levels.

    Args:
        works: ``(1,)`` work space.
        chips: ``(1,)``: a layer on a chip, with a nest of two levels.
        mappings: ``(B,)``.
        rows: ``(B,)``, filled where a mapping is feasible.
        reasons: ``(B,)`` reason codes; MALFORMED where a row is no mapping at all.
        size: How many.
    """
    work = address(works[0])
    work.nest = chips[0]
    work.known = -1
    for i in range(size):
        reasons[i] = evaluate_row(work, address(chips[0]), address(mappings[i]), address(rows[i]))


@entry
def name_counts(works: Work, nests: Nest, counts: Counts, rows: CountRow) -> None:
    """Give the counts of a nest of two levels the names that costs have; all are ``(1,)``."""
    work = address(works[0])
    work.nest = nests[0]
    work.known = -1
    find_keepers(work)
    work.counts = counts[0]
    fill_row(work, address(rows[0]))
