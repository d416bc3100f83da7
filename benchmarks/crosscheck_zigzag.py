"""The exact model's counts beside ZigZag's, run here: tensors that pass a level included.

    pip install marl-mapper[dev]
    python -m benchmarks crosscheck_zigzag tests/cost_models/data/crosscheck_sample.csv

The table gives dividing mappings of layers; each is counted with every choice of `BYPASS`. A memory
level of ZigZag serves some operands alone, which is what a tensor that passes a level is here. It
counts element moves of whole tiles, as the exact model does under ``halo_time=none``. With
``--write FILE`` its counts are kept, so that they can be compared with where ZigZag is not at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import cost_models
from benchmarks.dividing_mapping import (
    CLUSTERS_INSIDE,
    INPUTS,
    KEY,
    NEST,
    PASSES,
    Bypass,
    DividingMapping,
    bypass_of,
    counted,
)
from benchmarks.frame import asked, known, write
from cost_models import Accelerator
from layers import TENSORS

MODEL = cost_models.load("exact", halo_time="none", energy="maestro", area="maestro")
EQUATIONS = {
    "CONV": "O[k][y][x]+=W[k][c][r][s]*I[c][iy][ix]",
    "DSCONV": "O[c][y][x]+=W[c][r][s]*I[c][iy][ix]",
    "GEMM": "O[k][y]+=W[k][c]*I[c][y]",
}
OPERANDS = dict(zip(TENSORS, "IWO", strict=True))


class ComparedMoves(NamedTuple):
    """A line of :func:`lines`, our count, ZigZag's, and why they may differ."""

    row: dict[str, str]
    ours: int
    theirs: int
    cause: str


class _AnyMemory:
    """A memory of ZigZag's of which nothing but its moves is asked."""

    def get_memory_level(self, *_: Any) -> _AnyMemory:
        return self

    def get_max_bandwidth(self, *_: Any) -> int:
        return 1


def layer_node(case: DividingMapping) -> Any:
    """The layer as ZigZag has it."""
    from zigzag.datatypes import MemoryOperand
    from zigzag.parser.workload_factory import LayerNodeFactory
    from zigzag.workload.layer_node import LayerNode, MappingAttributes

    nothing: Any = None
    equation = EQUATIONS[case.kind]
    dims = [d for d in NEST if f"[{d.lower()}]" in equation]
    windows = ["ix=%d*x+1*s", "iy=%d*y+1*r"] if "iy" in equation else []
    data = {
        "id": 0,
        "name": "case",
        "operator_type": "Conv",
        "equation": equation,
        "loop_dims": dims,
        "loop_sizes": [case.extents[d] for d in dims],
        "operand_precision": {"O": 8, "O_final": 8, "W": 8, "I": 8},
        "dimension_relations": [text % case.stride for text in windows],
        "operand_source": {"I": 0, "W": 0},
        "padding": None,
        "pr_loop_dims": None,
        "pr_loop_sizes": None,
    }
    attributes = LayerNodeFactory(data, None).create_node_attr()
    links: Any = _OneMemoryOperand(MemoryOperand("I1"))
    return LayerNode(0, "case", attributes, MappingAttributes(nothing, nothing, links, nothing))


class _OneMemoryOperand:
    """Any operand's memory."""

    def __init__(self, operand: Any) -> None:
        self.operand = operand

    def __getitem__(self, _: Any) -> Any:
        return self.operand


def zigzag_counts(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """ZigZag's moves by our names of the counts, and its compute cycles."""
    from zigzag.datatypes import LayerDim, LayerOperand
    from zigzag.mapping.data_movement import DataDirection, DataMoveAttr
    from zigzag.mapping.mapping import Mapping as ZigZagMapping
    from zigzag.mapping.temporal_mapping import TemporalMapping, TemporalMappingType

    def named(loops: list[tuple[str, int]]) -> list[tuple[Any, int]]:
        return [(LayerDim(d), n) for d, n in loops]

    node = layer_node(case)
    outer, inner, own = (named(case.loops(level)) for level in range(3))
    temporal: dict[Any, list[Any]] = {}
    spatial: dict[Any, list[Any]] = {}
    for tensor, letter in OPERANDS.items():
        levels, spread = [own, inner, outer], [[], named(case.spread), [], []]
        if tensor in bypass[1]:
            levels, spread = [own + inner, outer], [named(case.spread), [], []]
        elif tensor in bypass[0]:
            levels, spread = [own, inner + outer], [[], named(case.spread), []]
        temporal[LayerOperand(letter)] = levels
        spatial[LayerOperand(letter)] = spread
    times = TemporalMapping(temporal, node, TemporalMappingType.UNEVEN)
    memory: Any = _AnyMemory()
    moved = ZigZagMapping(memory, spatial, times, node).unit_mem_data_movement

    def moves(tensor: str, level: int, way: str) -> int:
        """Of a level (0 DRAM, 1 L2, 2 L1) that the tensor does not pass."""
        kept = [0] + [n + 1 for n in range(2) if tensor not in bypass[n]]
        patterns = moved[LayerOperand(OPERANDS[tensor])]
        pattern = patterns[len(patterns) - 1 - kept.index(level)]
        counts = pattern.get_attribute(DataMoveAttr.DATA_ELEM_MOVE_COUNT)
        return round(counts.get(DataDirection[way]))

    found = {"compute_cycles": times.total_cycle}
    for tensor, short in (("input", "in"), ("filter", "fil")):
        found[f"dram_{short}"] = moves(tensor, 0, "RD_OUT_TO_LOW")
        if tensor not in bypass[0]:
            found[f"l2r_{short}"] = moves(tensor, 1, "RD_OUT_TO_LOW")
        if tensor not in bypass[1]:
            found[f"l1w_{short}"] = moves(tensor, 2, "WR_IN_BY_HIGH")
    found["dram_out_w"] = moves("output", 0, "WR_IN_BY_LOW")
    found["dram_out_r"] = moves("output", 0, "RD_OUT_TO_LOW")
    if "output" not in bypass[0]:
        found["l2w_out"] = moves("output", 1, "WR_IN_BY_LOW")
        found["l2r_psum"] = moves("output", 1, "RD_OUT_TO_LOW")
    if "output" not in bypass[1]:
        found["l1drain_out"] = moves("output", 2, "RD_OUT_TO_HIGH")
    return found


def ours(case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """The exact model's counts."""
    cost = MODEL.evaluate(case.layer(), Accelerator(prod(case.units)), case.mapping(bypass))
    assert cost.feasible, cost.infeasible
    return cost.counts


def lines(path: Path) -> Iterator[dict[str, str]]:
    """ZigZag's counts of every mapping of a table under every bypass, a line each."""
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
