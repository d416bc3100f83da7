"""The exact model's counts beside those of Timeloop, AccelForge and ZigZag, from a table of theirs.

    python -m benchmarks crosscheck TABLE.csv [--timeloop PROGRAM]

A row of the table is a dividing mapping of a layer, a tool, a metric and the tool's count; the
sample tests/cost_models/data/crosscheck_sample.csv has all tools. Tools: Timeloop 3.0.3, AccelForge
1.0.467 (whole tiles, and sliding), ZigZag 3.9.1 (moves, and words), and two brute-force walks that
fetch anew what changed (`brute-reload`) or keep what they hold (`brute-retain`).

With the path of `timeloop-model` Timeloop is run too, on the table's mappings with every choice of
tensors that pass a level. With ``--out FILE`` its counts are kept, and with ``--sums FILE`` how
many of them are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cost_models
from benchmarks import crosscheck_timeloop as timeloop
from benchmarks.crosscheck_timeloop_rules import slid
from benchmarks.dividing_mapping import (
    NO_BYPASS,
    Compared,
    DividingMapping,
    case_of,
    passing,
    report,
)
from benchmarks.frame import Row, Summary, known, refuse, show, write

MEANING = {
    "brute-reload": ("none", "union"),
    "brute-retain": ("retain", "union"),
    "timeloop": ("slide", "tile"),
    "accelforge-slide": ("slide", "tile"),
    "accelforge-whole": ("none", "tile"),
    "zigzag-moves": ("none", "union"),
    "zigzag-words": ("none", "tile"),
}
"""Options `halo_time` and `halo_space` under which the exact model means what a tool does; "slide"
is :func:`benchmarks.crosscheck_timeloop_rules.slid`, a rule on the counts of "none". Timeloop
and AccelForge give credit for the tile before alone, so that what a buffer still holds after a loop
wraps is fetched again; of the tools only the walk `brute-retain` keeps all that is held."""
CYCLES = ("cycles_dram_bw1", "cycles_dram_bw4")

FIRST_UPDATE = "tool reads outputs before their first update too"
TILE_BEFORE = "tool gives credit for the tile before, where taps or the axis are cut"
"""A window that slides leaves none there, and `retain` keeps all that is held, where it equals the
brute-force walk."""
FORMER = {
    "exact gives no credit where taps are tiled or parallel": TILE_BEFORE,
    "exact gives no credit where the axis is parallel": TILE_BEFORE,
}
"""Causes of the table that lay with the exact model before it had `retain`."""
OF_THE_TOOL = (
    FIRST_UPDATE,
    TILE_BEFORE,
    "tool takes the bounding box of a strided tile",
    "tool drops the sliding credit where an unrelated loop lies inside the sliding one",
    "tool places clusters inside the inner loops: parallel neighbours share more halo",
    "one storage node cannot slide over an outer and an inner loop",
    "follows dram_in",
)
"""Causes of a difference that lie with the tool."""


def compare(rows: Iterable[dict[str, str]], halo_time: str | None = None) -> Iterator[Compared]:
    """Evaluate the mapping of every row; cycles under a DRAM bandwidth are left out.

    Args:
        rows: Rows of the table.
        halo_time: The model's option; None takes the one that means what the tool does.
    """
    for row in rows:
        if row["metric"] in CYCLES:
            continue
        meant, space = MEANING[row["tool"]]
        case = case_of(row)
        counts = _counts(case, "none" if meant == "slide" else halo_time or meant)
        if meant == "slide" and halo_time is None:
            counts = slid(case, NO_BYPASS, counts, box=False)
        metric = row["metric"]
        theirs = round(float(row["tool_value"]))
        ours = _count(counts, metric, space)
        if ours != theirs and row["tool"] == "timeloop" and halo_time is None:
            # where taps or the sliding axis are tiled or parallel it keeps what is still held
            retained = _count(_counts(case, "retain"), metric, space)
            ours = retained if retained == theirs else ours
        cause = row["cause"]
        if row["tool"] == "timeloop":
            cause = FORMER.get(cause, cause)
        yield Compared(row, ours, theirs, cause if cause in OF_THE_TOOL else "")


def _count(counts: dict[str, int], metric: str, space: str) -> int:
    tile = space == "tile" and f"{metric}_tile" in counts
    return counts[f"{metric}_tile" if tile else metric]


@cache
def _counts(case: DividingMapping, halo_time: str) -> dict[str, int]:
    return case.counts(cost_models.load("exact", halo_time=halo_time))


def rows(given: Any) -> list[Row]:
    """The table, or Timeloop's counts of its mappings."""
    if given.timeloop is None:
        return known(given.table)
    try:
        return list(timeloop.lines(timeloop.program_path(given.timeloop), given.table))
    except ValueError as error:
        refuse(str(error))


def told(found: list[Row], given: Any) -> None:
    """Print how many counts are equal, and why others are not; keep that of Timeloop's."""
    report((one.row["tool"], one) for one in compare(known(given.table)))
    if given.timeloop is None:
        return
    sums = Counter(
        (one.row["metric"], "some tensors" if passing(one.row) else "none", one.cause)
        for one in timeloop.compare(found)
    )
    names = ("metric", "pass_a_level", "relation", "counts")
    table = [dict(zip(names, (*key, n), strict=True)) for key, n in sorted(sums.items())]
    show(table)
    write(given.sums, names, table)


TABLE = Summary(
    __doc__,
    rows,
    options={
        "table_": Path,
        "timeloop": (str, "path of `timeloop-model`"),
        "sums": (Path, "keep how many of Timeloop's counts are equal"),
    },
    told=told,
)
