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
    """A line of :func:`lines`, our count, ZigZag's, and why they may differ."""

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


def ours(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """The exact model's counts."""
    cost = MODEL.evaluate(case.layer(), Accelerator(prod(case.units)), case.mapping(bypass))
    assert cost.feasible, cost.infeasible
    return cost.counts


def lines(path: Path) -> Iterator[dict[str, str]]:
    """ZigZag's counts of every mapping of a table under every bypass, a line each."""
    logging.disable(logging.CRITICAL)
    return counted(path, "zigzag", zigzag_counts)


def compare(found: Iterable[dict[str, str]]) -> Iterator[ComparedMoves]:
    """Our counts beside those of :func:`lines`."""
    counts: dict[tuple[str, ...], dict[str, int]] = {}
    for line in found:
        key = tuple(line[name] for name in (*KEY, *PASSES))
        case = DividingMapping(line)
        if key not in counts:
            counts[key] = ours(case, bypass_of(line))
        yield ComparedMoves(line, counts[key][line["metric"]], int(line["zigzag"]), case.cause)


def main() -> None:
    given = asked(
        __doc__,
        table_=(Path, "of tools, or written before by --write"),
        write=(Path, "keep ZigZag's counts"),
    )
    found = known(given.table)
    if "zigzag" not in found[0]:
        found = list(lines(given.table))
    write(given.write, (*KEY, *PASSES, "metric", "zigzag"), found)
    equal, total, unnamed = Counter[str](), Counter[str](), 0
    for line in compare(found):
        some = line.row["l2_passes"] or line.row["l1_passes"]
        name = f"{line.row['metric']:15} {'some tensors pass a level' if some else 'none does'}"
        total[name] += 1
        equal[name] += line.ours == line.theirs
        unnamed += line.ours != line.theirs and not (line.cause and line.row["metric"] in INPUTS)
    for name, rows in sorted(total.items()):
        print(f"{name:42} {equal[name]:6} of {rows} equal")
    print(f"differences without a named cause: {unnamed}; the others: {CLUSTERS_INSIDE}")
    raise SystemExit(unnamed > 0)
