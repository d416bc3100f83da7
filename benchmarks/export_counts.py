"""Exported mappings run by ZigZag and AccelForge: their counts beside the exact model's.

    pip install 'marl-mapper[dev]'
    python -m benchmarks export_counts [--mappings 60] [--accelforge PYTHON] [--csv FILE]

Mappings of whole factors on chips of three levels, with several dimensions side by side and tensors
that pass a level, are written by `mapper export`, then read and counted by the tools themselves:
element reads and writes of every tensor in every memory. ZigZag runs here, AccelForge under a
Python 3.12 that has it (`accelforge_map.py`), which counts fused groups, too (`export_groups.py`),
Timeloop 3.0.3 where its program is given
(`crosscheck_timeloop.py`). Where a count differs, a rule gives the tool's number
(`export_rules.py`).
"""

from __future__ import annotations

import json
import logging
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.crosscheck_timeloop import NO_CAUSE, TimeloopError, nest_counts, program_path
from benchmarks.export_cases import Case, cases
from benchmarks.export_groups import GroupCase, group_cases
from benchmarks.export_rules import (
    ANEW,
    EACH,
    INSIDE,
    ONCE,
    Counts,
    Node,
    accelforge_counts,
    accelforge_said,
    accelforge_stays,
    zigzag_counts,
    zigzag_stays,
)
from benchmarks.field import accelforge_map
from benchmarks.frame import Summary, grouped
from cost_models import clock_of
from layers import TENSORS
from mapper.export.accelforge_files import accelforge_files
from mapper.export.export_files import write_files
from mapper.export.fused_accelforge import fused_files
from mapper.export.zigzag_files import LAYER_OPERAND, temporal_loops, zigzag_files

COUNTED = {"zigzag": zigzag_counts, "accelforge": accelforge_counts}
GROUPS = "accelforge-fused"
"""Stands for AccelForge where it counts fused groups."""
BOXES = {"halo_space": "tile", "window": "box"}
WINDOW = "Timeloop gives credit for the tile before alone; its rules are worked out on two levels"


def exact_counts(case: Case, tool: str) -> Counts:
    """The exact model's, as it means what a tool does: others than ZigZag take each unit's box."""
    return case.counts(**({} if tool == "zigzag" else BOXES))


def zigzag_evaluated(case: Case, folder: Path) -> Any:
    """ZigZag's evaluation of an export, each loop in the memory that the mapping says.

    As in the exact model, every MAC reads its operands: nothing stays at its output pins.
    """
    from zigzag.cost_model.cost_model import CostModelEvaluation
    from zigzag.datatypes import LayerDim, LayerOperand
    from zigzag.mapping.temporal_mapping import TemporalMapping, TemporalMappingType
    from zigzag.stages.mapping.spatial_mapping_conversion import SpatialMappingConversionStage
    from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
    from zigzag.stages.parser.workload_parser import WorkloadParserStage

    write_files(folder, zigzag_files(case.nest))
    chip = AcceleratorParserStage.parse_accelerator(str(folder / "accelerator.yaml"))
    reader = WorkloadParserStage(
        [None],  # type: ignore[list-item]
        workload=str(folder / "workload.yaml"),
        mapping=str(folder / "mapping.yaml"),
    )
    layer = next(iter(reader.parse_workload().topological_sort()))
    layer.spatial_mapping.oa_dim_sizes = chip.operational_array.dimension_sizes
    turn = SpatialMappingConversionStage([None], accelerator=chip, layer=layer)  # type: ignore[list-item]
    spatial, whole = turn.convert_user_spatial_mapping(layer.spatial_mapping)
    loops = {
        LayerOperand(LAYER_OPERAND[tensor]): [
            [(LayerDim(dim), steps) for dim, steps in part]
            for part in temporal_loops(case.nest, tensor)
        ]
        for tensor in TENSORS
    }
    return CostModelEvaluation(
        accelerator=chip,
        layer=layer,
        spatial_mapping=spatial,
        spatial_mapping_int=whole,
        temporal_mapping=TemporalMapping(loops, layer, TemporalMappingType.UNEVEN),
        access_same_data_considered_as_no_access=False,
    )


def zigzag_moves(case: Case, found: Any) -> Counts:
    """Elements that ZigZag moves, by memory, tensor and direction in its words."""
    from zigzag.datatypes import LayerOperand
    from zigzag.mapping.data_movement import DataDirection, DataMoveAttr

    moves: Counts = {}
    for tensor in TENSORS:
        patterns = found.mapping.unit_mem_data_movement[LayerOperand(LAYER_OPERAND[tensor])]
        stays = zigzag_stays(case.nest, tensor)[-2::-1]  # memories from the MACs outwards
        for pattern, stay in zip(patterns, stays, strict=True):
            moved = pattern.get_attribute(DataMoveAttr.DATA_ELEM_MOVE_COUNT)
            for way in DataDirection:
                moves[stay.memory, tensor, way.name] = round(moved.get(way))
    return moves


class Said(NamedTuple):
    """What a tool says of a mapping: elements read and written, energy [nJ] and cycles."""

    counts: Counts
    nj: float
    cycles: float


def zigzag_says(case: Case) -> Said:
    """Elements that ZigZag moves in and out of every memory, and what that costs."""
    with tempfile.TemporaryDirectory() as folder:
        found = zigzag_evaluated(case, Path(folder))
    counts: Counts = Counter()
    for (memory, tensor, direction), moved in zigzag_moves(case, found).items():
        counts[memory, tensor, "read" if direction.startswith("RD") else "write"] += moved
    return Said(counts, found.energy_total / 1000, found.latency_total2)


def run_accelforge(exports: Sequence[dict[str, str]], python: str) -> list[Node]:
    """What AccelForge says of the files of exports, all in one run of its Python.

    Raises:
        SystemExit: It is not there, or fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / str(place) for place in range(len(exports))]
        for texts, folder in zip(exports, folders, strict=True):
            write_files(folder, texts)
        words = [python, "-P", accelforge_map.__file__, "counts", *map(str, folders)]
        try:
            run = subprocess.run(words, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
            raise SystemExit(f"--accelforge {python}: {said}") from None
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def both_say(cases: list[Case], accelforge: str | None) -> Iterator[tuple[Case, str, Said]]:
    """What ZigZag says of exports, then AccelForge where a Python that has it is given."""
    logging.disable(logging.CRITICAL)
    yield from ((case, "zigzag", zigzag_says(case)) for case in cases)
    if accelforge is not None:
        texts = [accelforge_files(case.nest) for case in cases]
        for case, one in zip(cases, run_accelforge(texts, accelforge), strict=True):
            cycles = one["latency_s"] * 1e6 * clock_of(case.nest.chip)
            counts = accelforge_said(case.nest, one)
            yield case, "accelforge", Said(counts, 1e9 * one["energy_j"], cycles)


def cause_of(case: Case, tool: str, tensor: str) -> str:
    """The rule by which a tool's count of a tensor differs."""
    if tool == "zigzag":
        return ONCE if tensor == "output" else INSIDE
    if tool == "timeloop":
        return WINDOW if tensor == "input" else NO_CAUSE
    steps = [
        [stay.steps for stay in stays(case.nest, tensor)]
        for stays in (zigzag_stays, accelforge_stays)
    ]
    return EACH if tensor == "output" and steps[0] == steps[1] else ANEW


def compare_one(case: Case, tool: str, theirs: Counts) -> Iterator[Node]:
    """A row for each count of a mapping."""
    ours = exact_counts(case, tool)
    if tool == "timeloop":  # it keeps what the step before had, where no other loop lies inside
        held = case.counts(**BOXES, halo_time="retain")
        ours |= {key: n for key, n in held.items() if n == theirs[key]}
    by_rule = COUNTED[tool](case.nest) if tool in COUNTED else ours
    yield from count_rows(case, tool, ours, by_rule, theirs)


def count_rows(
    case: Case, tool: str, ours: Counts, by_rule: Counts, theirs: Counts
) -> Iterator[Node]:
    """A row for each count: by our model, by a tool's rules, and by the tool."""
    for key, count in ours.items():
        memory, tensor, way = key
        cause = "" if count == theirs[key] else cause_of(case, tool, tensor)
        if cause not in ("", WINDOW) and by_rule[key] != theirs[key]:
            cause = NO_CAUSE
        yield {
            "tool": tool,
            "chip": case.chip.name,
            "memory": memory,
            "tensor": tensor,
            "way": way,
            "cause": cause,
            "by_rule": by_rule[key] == theirs[key],
        }


def compare_groups(groups: list[GroupCase], python: str) -> Iterator[Node]:
    """Rows of fused groups by AccelForge."""
    said = run_accelforge([fused_files(group.nests) for group in groups], python)
    for group, one in zip(groups, said, strict=True):
        for place, case in enumerate(group.cases):
            counts = group.exact(place), group.by_rules(place), group.said(place, one)
            yield from count_rows(case, GROUPS, *counts)


def compare(
    found: list[Case], accelforge: str | None = None, timeloop: str | None = None
) -> Iterator[Node]:
    """Rows of mappings by ZigZag, and by AccelForge and Timeloop where they are given.

    Args:
        found: The mappings.
        accelforge: Path of a Python that has AccelForge.
        timeloop: Path of `timeloop-model`.
    """
    for case, tool, said in both_say(found, accelforge):
        yield from compare_one(case, tool, said.counts)
    if timeloop is not None:
        for case in found:
            yield from compare_one(case, "timeloop", nest_counts(timeloop, case.nest))


def summed(given: Any) -> list[Node]:
    """Equal counts by tool, chip, memory, tensor and way, and the causes of others."""
    try:
        timeloop = given.timeloop and program_path(given.timeloop)
        found = list(cases(given.mappings, given.seed))
        rows = list(compare(found, given.accelforge, timeloop))
        if given.accelforge is not None:
            groups = list(group_cases(given.groups, given.seed))
            rows += compare_groups(groups, given.accelforge)
    except TimeloopError as error:
        raise SystemExit(str(error)) from None
    names = ("tool", "chip", "memory", "tensor", "way")
    return [
        dict(zip(names, key, strict=True))
        | {
            "mappings": len(group),
            "equal": sum(not row["cause"] for row in group),
            "given_by_rules": sum(row["by_rule"] for row in group),
            "causes": "; ".join(sorted({row["cause"] for row in group if row["cause"]})),
        }
        for key, group in grouped(rows, *names).items()
    ]


def told(rows: Any, _: Any) -> bool:
    """Print sums by tool, and the causes; true where a count has none."""
    for tool, own in grouped(rows, "tool").items():
        total, equal, ruled = (
            sum(row[name] for row in own) for name in ("mappings", "equal", "given_by_rules")
        )
        print(f"{tool}: {total} counts: {equal} equal, {ruled} are what its rules give")
        print(*sorted({row["causes"] for row in own if row["causes"]}), sep="\n")
    return any(NO_CAUSE in row["causes"] for row in rows)


TABLE = Summary(
    __doc__,
    summed,
    options={
        "mappings": 60,
        "groups": (60, "fused groups for AccelForge"),
        "seed": 0,
        "accelforge": (str, "a Python 3.12 that has AccelForge"),
        "timeloop": (str, "path of `timeloop-model`"),
    },
    quick={"mappings": 3, "groups": 3},
    told=told,
)
