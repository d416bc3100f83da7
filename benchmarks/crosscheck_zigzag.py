"""The exact model's counts beside ZigZag's, run here: tensors that pass a level included.

    pip install marl-mapper[dev]
    python -m benchmarks crosscheck_zigzag tests/cost_models/data/crosscheck_sample.csv

The table gives dividing mappings of layers; each is counted with every choice of `BYPASS`. A memory
level of ZigZag serves some operands alone, which is what a tensor that passes a level is here. It
counts element moves of whole tiles, as the exact model does under ``halo_time=none``. With
``--out FILE`` its counts are kept, so that they can be compared with where ZigZag is not at hand.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cost_models
from benchmarks.dividing_mapping import (
    COUNTED,
    INPUTS,
    Bypass,
    Compared,
    DividingMapping,
    bypass_of,
    case_of,
    counted,
    passing,
    report,
)
from benchmarks.export_cases import Case
from benchmarks.export_counts import zigzag_evaluated, zigzag_moves
from benchmarks.frame import Row, Summary, known

MODEL = cost_models.load("exact", halo_time="none", energy="maestro", area="maestro")
DIRECTIONS = {"reads": "RD_OUT_TO_LOW", "fills": "WR_IN_BY_HIGH", "updates": "WR_IN_BY_LOW"}
MOVES = {name: (*place, DIRECTIONS[word]) for name, (*place, word) in COUNTED.items()}
MOVES["l1drain_out"] = ("L1", "output", "RD_OUT_TO_HIGH")
"""Our counts: the level, the tensor, and the direction in ZigZag's words."""


def zigzag_counts(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """ZigZag's moves by our names of the counts, and its compute cycles, of an exported mapping."""
    export = Case(case.layer(), case.chip, case.mapping(bypass))
    with tempfile.TemporaryDirectory() as folder:
        found = zigzag_evaluated(export, Path(folder))
    moves = zigzag_moves(export, found)
    counts = {name: moves[move] for name, move in MOVES.items() if move in moves}
    return {"compute_cycles": found.temporal_mapping.total_cycle} | counts


@cache
def _ours(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    return case.counts(MODEL, bypass)


def compare(found: Iterable[dict[str, str]]) -> Iterator[Compared]:
    """Our counts beside those of a table of ZigZag's."""
    for line in found:
        case, metric = case_of(line), line["metric"]
        ours = _ours(case, bypass_of(line))[metric]
        cause = case.cause if metric in INPUTS else ""
        yield Compared(line, ours, int(line["zigzag"]), cause)


def rows(given: Any) -> list[Row]:
    """ZigZag's counts of the mappings of a table, or those that it has."""
    found = known(given.table)
    if "zigzag" in found[0]:
        return found
    logging.disable(logging.CRITICAL)
    return list(counted(given.table, "zigzag", zigzag_counts))


def told(found: list[Row], _: Any) -> bool:
    """Print how many are equal; true where one differs without a cause."""
    words = {True: "some tensors pass a level", False: "none does"}
    return report((f"{one.row['metric']:15} {words[passing(one.row)]:26}", one)
                  for one in compare(found)) > 0  # fmt: skip


TABLE = Summary(
    __doc__, rows, options={"table_": (Path, "of tools, or written before by --out")}, told=told
)
