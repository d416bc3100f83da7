"""Counts of ZigZag beside ours, for mappings in which tensors pass a level."""

from collections import Counter
from pathlib import Path

from benchmarks.crosscheck_zigzag import compare, zigzag_counts
from benchmarks.dividing_mapping import INPUTS, DividingMapping, bypass_of
from benchmarks.frame import known

DATA = Path(__file__).parent / "data"
ROWS = known(DATA / "zigzag_bypass.csv")
"""What `benchmarks/crosscheck_zigzag.py --out` kept of ZigZag 3.9.1: a sample."""


def test_counts_equal_zigzags_but_for_one_named_cause() -> None:
    different = Counter[str]()
    for line in compare(ROWS):
        if line.ours != line.theirs:
            assert line.row["metric"] in INPUTS, line
            assert line.cause, line
            different[line.row["metric"]] += 1
    assert set(different) == {"l2r_in", "dram_in"}  # both at the boundary to the PEs
    assert sum(different.values()) < len(ROWS) // 10


def test_zigzag_gives_the_counts_that_are_kept() -> None:
    for row in ROWS[:: len(ROWS) // 12]:
        counts = zigzag_counts(DividingMapping(row), bypass_of(row))
        assert counts[row["metric"]] == int(row["zigzag"]), row
