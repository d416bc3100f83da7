"""The exact model's counts beside ZigZag's, run here: tensors that pass a level included.

    pip install marl-mapper[dev]
    python -m benchmarks crosscheck_zigzag tests/cost_models/data/crosscheck_sample.csv

The table gives dividing mappings of layers; each is counted with every choice of `BYPASS`. A memory
level of ZigZag serves some operands alone, which is what a tensor that passes a level is here. It
counts element moves of whole tiles, as the exact model does under ``halo_time=none``. With
``--write FILE`` its counts are kept, so that they can be compared with where ZigZag is not at hand.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import prod
from pathlib import Path
from typing import NamedTuple

import cost_models
from benchmarks.dividing_mapping import (
    CLUSTERS_INSIDE,
    INPUTS,
    KEY,
    PASSES,
    Bypass,
    DividingMapping,
    bypass_of,
    counted,
    passing,
)
from benchmarks.export_cases import Case
from benchmarks.export_counts import zigzag_evaluated, zigzag_moves
from benchmarks.frame import asked, known, write
from cost_models import Accelerator

MODEL = cost_models.load("exact", halo_time="none", energy="maestro", area="maestro")
MOVES = {
    "dram_in": ("DRAM", "input", "RD_OUT_TO_LOW"),
    "l2r_in": ("L2", "input", "RD_OUT_TO_LOW"),
    "l1w_in": ("L1", "input", "WR_IN_BY_HIGH"),
    "dram_fil": ("DRAM", "filter", "RD_OUT_TO_LOW"),
    "l2r_fil": ("L2", "filter", "RD_OUT_TO_LOW"),
    "l1w_fil": ("L1", "filter", "WR_IN_BY_HIGH"),
    "dram_out_w": ("DRAM", "output", "WR_IN_BY_LOW"),
    "dram_out_r": ("DRAM", "output", "RD_OUT_TO_LOW"),
    "l2w_out": ("L2", "output", "WR_IN_BY_LOW"),
    "l2r_psum": ("L2", "output", "RD_OUT_TO_LOW"),
    "l1drain_out": ("L1", "output", "RD_OUT_TO_HIGH"),
}
"""Our counts: the level, the tensor, and the direction in ZigZag's words."""


class ComparedMoves(NamedTuple):
    """A line of a table, our count, ZigZag's, and why they may differ."""

    row: dict[str, str]
    ours: int
    theirs: int
    cause: str


def zigzag_counts(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """ZigZag's moves by our names of the counts, and its compute cycles, of an exported mapping."""
    export = Case(case.layer(), Accelerator(prod(case.units)), case.mapping(bypass))
    with tempfile.TemporaryDirectory() as folder:
        found = zigzag_evaluated(export, Path(folder))
    moves = zigzag_moves(export, found)
    counts = {name: moves[move] for name, move in MOVES.items() if move in moves}
    return {"compute_cycles": found.temporal_mapping.total_cycle} | counts


@cache
def _ours(*key: str) -> tuple[dict[str, int], str]:
    """The exact model's counts of a mapping, and why an input count may differ."""
    line = dict(zip((*KEY, *PASSES), key, strict=True))
    case = DividingMapping(line)
    mapping = case.mapping(bypass_of(line))
    cost = MODEL.evaluate(case.layer(), Accelerator(prod(case.units)), mapping)
    assert cost.feasible, cost.infeasible
    return cost.counts, case.cause


def compare(found: Iterable[dict[str, str]]) -> Iterator[ComparedMoves]:
    """Our counts beside those of a table of ZigZag's."""
    for line in found:
        counts, cause = _ours(*(line[name] for name in (*KEY, *PASSES)))
        yield ComparedMoves(line, counts[line["metric"]], int(line["zigzag"]), cause)


def main() -> bool:
    given = asked(
        __doc__,
        table_=(Path, "of tools, or written before by --write"),
        write=(Path, "keep ZigZag's counts"),
    )
    found = known(given.table)
    if "zigzag" not in found[0]:
        logging.disable(logging.CRITICAL)
        found = list(counted(given.table, "zigzag", zigzag_counts))
    write(given.write, (*KEY, *PASSES, "metric", "zigzag"), found)
    lines = list(compare(found))
    of = [(one.row["metric"], passing(one.row), one.ours == one.theirs) for one in lines]
    equal, total = Counter(one[:2] for one in of if one[2]), Counter(one[:2] for one in of)
    for (metric, some), rows in sorted(total.items()):
        name = f"{metric:15} {'some tensors pass a level' if some else 'none does'}"
        print(f"{name:42} {equal[metric, some]:6} of {rows} equal")
    differ = [one for one in lines if one.ours != one.theirs]
    unnamed = sum(not (one.cause and one.row["metric"] in INPUTS) for one in differ)
    print(f"differences without a named cause: {unnamed}; the others: {CLUSTERS_INSIDE}")
    return unnamed > 0
