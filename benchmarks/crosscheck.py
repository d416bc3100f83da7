"""The exact model's counts beside those of Timeloop, AccelForge and ZigZag, from a table of theirs.

    python -m benchmarks crosscheck TABLE.csv [--timeloop PROGRAM]

A row of the table is a dividing mapping of a layer, a tool, a metric and the tool's count; the
sample tests/cost_models/data/crosscheck_sample.csv has all tools. Tools: Timeloop 3.0.3, AccelForge
1.0.467 (whole tiles, and sliding), ZigZag 3.9.1 (moves, and words), and two brute-force walks that
fetch anew what changed (`brute-reload`) or keep what they hold (`brute-retain`).

With the path of `timeloop-model` Timeloop is run too, on the table's mappings with every choice of
tensors that pass a level. With ``--write FILE`` its counts are kept, and with ``--sums FILE`` how
many of them are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import cost_models
from benchmarks.crosscheck_timeloop_rules import slid
from benchmarks.dividing_mapping import KEY, NO_BYPASS, DividingMapping, passing
from benchmarks.frame import asked, known, show, write
from cost_models import Accelerator

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

BOUNDING_BOX = "tool takes the bounding box of a strided tile"
FIRST_UPDATE = "tool reads outputs before their first update too"
DROPS_CREDIT = "tool drops the sliding credit where an unrelated loop lies inside the sliding one"
CLUSTERS_INSIDE = "tool places clusters inside the inner loops: parallel neighbours share more halo"
ONE_SLIDE = "one storage node cannot slide over an outer and an inner loop"
FOLLOWS_INPUT = "follows dram_in"
TILE_BEFORE = "tool gives credit for the tile before, where taps or the axis are cut"
"""A window that slides leaves none there, and `retain` keeps all that is held, where it equals the
brute-force walk."""
FORMER = {
    "exact gives no credit where taps are tiled or parallel": TILE_BEFORE,
    "exact gives no credit where the axis is parallel": TILE_BEFORE,
}
"""Causes of the table that lay with the exact model before it had `retain`."""
OF_THE_TOOL = (
    BOUNDING_BOX,
    FIRST_UPDATE,
    DROPS_CREDIT,
    CLUSTERS_INSIDE,
    ONE_SLIDE,
    FOLLOWS_INPUT,
    TILE_BEFORE,
)
"""Causes of a difference that lie with the tool."""


@dataclass(frozen=True)
class Compared:
    """One row of the table, beside ours.

    Args:
        row: The row.
        ours: The exact model's count.
        theirs: The tool's.
    """

    row: dict[str, str]
    ours: int
    theirs: int

    @property
    def equal(self) -> bool:
        """Whether the two agree."""
        return self.ours == self.theirs

    @property
    def cause(self) -> str:
        """Why they differ, where that lies with the tool; empty where no such cause is named."""
        cause = self.row["cause"]
        if self.row["tool"] == "timeloop":
            cause = FORMER.get(cause, cause)
        return cause if cause in OF_THE_TOOL else ""


def compare(rows: Iterable[dict[str, str]], halo_time: str | None = None) -> Iterator[Compared]:
    """Evaluate the mapping of every row; cycles under a DRAM bandwidth are left out.

    Args:
        rows: Rows of the table.
        halo_time: The model's option; None takes the one that means what the tool does.
    """
    known_cases: dict[tuple[str, ...], DividingMapping] = {}
    for row in rows:
        if row["metric"] in CYCLES:
            continue
        meant, space = MEANING[row["tool"]]
        key = tuple(row[name] for name in KEY)
        case = known_cases.setdefault(key, DividingMapping(row))
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
        yield Compared(row, ours, theirs)


def _count(counts: dict[str, int], metric: str, space: str) -> int:
    tile = space == "tile" and f"{metric}_tile" in counts
    return counts[f"{metric}_tile" if tile else metric]


@cache
def _counts(case: DividingMapping, halo_time: str) -> dict[str, int]:
    model, chip = cost_models.load("exact", halo_time=halo_time), Accelerator(prod(case.units))
    cost = model.evaluate(case.layer(), chip, case.mapping())
    if cost.infeasible is not None:
        raise SystemExit(f"{case.row}: {cost.infeasible}")
    return cost.counts


def report(table: list[dict[str, str]]) -> None:
    """Print how many counts of each tool are equal, and why others are not."""
    found = [(one.row["tool"], one.row["metric"], one) for one in compare(table)]
    total = Counter(tool for tool, *_ in found)
    equal = Counter(tool for tool, _, one in found if one.equal)
    for tool, rows in sorted(total.items()):
        print(f"{tool:18} {equal[tool]:5} of {rows} counts equal")
    differ = ((*of, one.cause or "NO CAUSE NAMED") for *of, one in found if not one.equal)
    for (tool, metric, cause), rows in sorted(Counter(differ).items()):
        print(f"  {rows:4} {tool:18} {metric:12} {cause}")


def run_timeloop(given: Any) -> None:
    """Run Timeloop on the mappings of a table, and report how its counts relate to ours."""
    from benchmarks import crosscheck_timeloop as timeloop

    lines = list(timeloop.lines(timeloop.program_path(given.timeloop), given.table))
    write(given.write, lines[0], lines)
    sums = Counter(
        (one.row["metric"], "some tensors" if passing(one.row) else "none", one.relation)
        for one in timeloop.compare(lines)
    )
    names = ("metric", "pass_a_level", "relation", "counts")
    rows = [dict(zip(names, (*key, n), strict=True)) for key, n in sorted(sums.items())]
    show(rows)
    write(given.sums, names, rows)


def main() -> None:
    given = asked(
        __doc__,
        table_=Path,
        timeloop=(str, "path of `timeloop-model`"),
        write=(Path, "keep Timeloop's counts"),
        sums=(Path, "keep how many of them are equal"),
    )
    report(known(given.table))
    if given.timeloop is not None:
        try:
            run_timeloop(given)
        except ValueError as error:
            raise SystemExit(str(error)) from None
