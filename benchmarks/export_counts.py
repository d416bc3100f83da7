"""Exported mappings run by ZigZag and AccelForge: their counts beside the exact model's.

    pip install 'marl-mapper[dev]'
    python -m benchmarks export_counts [--mappings 60] [--accelforge PYTHON] [--csv FILE.csv]

Mappings of whole factors on chips of three levels, with several dimensions side by side and tensors
that pass a level, are written by `mapper export`, then read and counted by the tools themselves:
element reads and writes of every tensor in every memory. ZigZag runs here, AccelForge under a
Python 3.12 that has it (`accelforge_run.py`). Where a count differs, a rule gives the tool's number
(`export_rules.py`).
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import cost_models
import layers
from benchmarks import accelforge_run as runner
from benchmarks.export_rules import (
    ANEW,
    EACH,
    INSIDE,
    ONCE,
    Counts,
    accelforge_counts,
    accelforge_stays,
    zigzag_counts,
    zigzag_stays,
)
from cost_models import Chain, ChainMapping, Cost, Entry, Spread
from layers import DIMS, TENSORS, Layer
from mapper.export.accelforge_files import ARRAYS, accelforge_files
from mapper.export.chip_stores import ChipStores
from mapper.export.export_files import write_files
from mapper.export.loop_nest import LoopNest, loop_nest
from mapper.export.zigzag_files import LAYER_OPERAND, temporal_loops, zigzag_files

LAYERS = (
    "conv:K=8,C=4,Y=14,X=14,R=3,S=3",
    "conv:K=16,C=8,Y=9,X=9,R=1,S=1",
    "conv:K=4,C=6,Y=13,X=13,R=3,S=3,stride=2",
    "gemm:M=16,N=24,K=12",
    "dsconv:C=8,Y=10,X=10,R=3,S=3",
)
DRAM = {"name": "DRAM", "read_bw": 128, "write_bw": 128}
WIDE = {"read_bw": 1024, "write_bw": 1024}
CHIPS: dict[str, list[dict[str, Any]]] = {
    "processors": [
        {"name": "L2", "bytes": 262144, "fanout": {"axes": [4, 2]}, **WIDE},
        {"name": "Shared", "bytes": 16384, "fanout": {"units": 16}, **WIDE},
        {"name": "Registers", "bytes": 512},
    ],
    "cells": [
        {
            "name": "Buffer",
            "bytes": 131072,
            "holds": ["input", "output"],
            "fanout": {"axes": [4, 4]},
            **WIDE,
        },
        {"name": "Weights", "bytes": 8192, "holds": ["filter"]},
        {
            "name": "Sums",
            "bytes": {"input": 1024, "output": 2048},
            "holds": ["input", "output"],
            "fanout": {"axes": [8, 8], "dims": ["K", "C"]},
        },
    ],
    "array": [
        {"name": "Buffer", "bytes": 524288, "fanout": {"units": 4}, **WIDE},
        {
            "name": "Accumulators",
            "bytes": 16384,
            "holds": ["output"],
            "fanout": {"axes": [8, 8]},
            **WIDE,
        },
        {"name": "Cell", "bytes": 256, "holds": ["filter"]},
    ],
}
"""Levels inside DRAM of chips of three."""
STAYS = {"zigzag": zigzag_stays, "accelforge": accelforge_stays}
COUNTED = {"zigzag": zigzag_counts, "accelforge": accelforge_counts}
NO_CAUSE = "NO CAUSE NAMED"
PASSES = 0.15
"""How often a tensor passes a level that could keep it."""
TRIES = 3000


def chip_of(name: str) -> Chain:
    """A chip of `CHIPS`."""
    return Chain.from_dict({"name": name, "levels": [DRAM, *CHIPS[name]]})


def primes(n: int) -> list[int]:
    """Prime factors, smallest first."""
    for p in range(2, n + 1):
        if n % p == 0:
            return [p, *primes(n // p)]
    return []


def random_mapping(layer: Layer, chip: Chain, rng: np.random.Generator) -> ChainMapping:
    """A mapping of whole factors: every prime of an extent is in some loop or axis."""
    levels = chip.inner
    time = [dict.fromkeys(DIMS, 1) for _ in range(len(levels) + 1)]
    space: dict[tuple[int, int, str], int] = {}
    for dim, extent in zip(DIMS, layer.extents, strict=True):
        for prime in primes(extent):
            slots: list[tuple[int, int | None]] = [(m, None) for m in range(len(levels) + 1)]
            for m, level in enumerate(levels):
                for axis, found in enumerate(() if level.fanout.any else level.fanout.axes):
                    used = prod(n for (at, on, _), n in space.items() if (at, on) == (m, axis))
                    if dim in found.dims and used * prime <= found.units:
                        slots.append((m, axis))
            m, on = slots[int(rng.integers(len(slots)))]
            if on is None:
                time[m][dim] *= prime
            else:
                space[m, on, dim] = space.get((m, on, dim), 1) * prime
    entries, keeps = [], _kept(chip, rng)
    for m, level in enumerate(levels):
        tiles = {
            dim: prod(part[dim] for part in time[m + 1 :])
            * prod(n for (at, _, d), n in space.items() if at >= m and d == dim)
            for dim in DIMS
        }
        spreads = tuple(Spread(d, n, axis) for (at, axis, d), n in space.items() if at == m)
        order = "".join(rng.permutation(list("KCYXRS")))
        entries.append(Entry(level.name, tiles, order, spreads, keeps[m]))
    return ChainMapping(tuple(entries))


def _kept(chip: Chain, rng: np.random.Generator) -> list[frozenset[str]]:
    """What each level keeps: some tensors pass a level, each is kept in one at least."""
    held = [
        {t for t, holds in zip(TENSORS, level.holds, strict=True) if holds} for level in chip.inner
    ]
    found = [{t for t in sorted(some) if rng.random() >= PASSES} for some in held]
    for tensor in TENSORS:
        if not any(tensor in some for some in found):
            next(kept for kept, some in zip(found, held, strict=True) if tensor in some).add(tensor)
    return [frozenset(some) for some in found]


@dataclass(frozen=True)
class Case:
    """A mapping that is exported.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
    """

    layer: Layer
    chip: Any
    mapping: Any

    @cached_property
    def nest(self) -> LoopNest:
        """As whole factors."""
        return loop_nest(self.layer, self.chip, self.mapping)

    def cost(self, **options: Any) -> Cost:
        """By the exact model, which counts whole tiles here, as the tools do."""
        model = cost_models.load("exact", halo_time="none", **options)
        return model.evaluate(self.layer, self.chip, self.mapping)


def drawn(layer: Layer, chip: Chain, rng: np.random.Generator) -> Iterator[Case]:
    """Mappings that fit, of as many as `TRIES`."""
    for _ in range(TRIES):
        case = Case(layer, chip, random_mapping(layer, chip, rng))
        if case.cost().feasible:
            yield case


def cases(count: int, seed: int) -> Iterator[Case]:
    """Mappings of the layers and chips in turn."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        layer = layers.parse(LAYERS[place % len(LAYERS)])
        chip = chip_of([*CHIPS][place // len(LAYERS) % len(CHIPS)])
        yield next(drawn(layer, chip, rng))


def exact_counts(case: Case, tool: str) -> Counts:
    """The exact model's, as it means what a tool does: AccelForge takes each unit's tile, boxed."""
    options = {"halo_space": "tile", "window": "box"} if tool == "accelforge" else {}
    return {
        (name, tensor, way): round(level.accesses[tensor][way])
        for name, level in case.cost(**options).levels.items()
        for tensor in case.nest.kept(name)
        for way in ("read", "write")
    }


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


def zigzag_says(case: Case, found: Any) -> Counts:
    """Elements that ZigZag moves in and out of every memory."""
    from zigzag.datatypes import LayerOperand
    from zigzag.mapping.data_movement import DataDirection, DataMoveAttr

    ways = {
        "read": (DataDirection.RD_OUT_TO_LOW, DataDirection.RD_OUT_TO_HIGH),
        "write": (DataDirection.WR_IN_BY_LOW, DataDirection.WR_IN_BY_HIGH),
    }
    counts: Counts = {}
    for tensor in TENSORS:
        patterns = found.mapping.unit_mem_data_movement[LayerOperand(LAYER_OPERAND[tensor])]
        stays = zigzag_stays(case.nest, tensor)[-2::-1]  # memories from the MACs outwards
        for pattern, stay in zip(patterns, stays, strict=True):
            moved = pattern.get_attribute(DataMoveAttr.DATA_ELEM_MOVE_COUNT)
            for way, directions in ways.items():
                counts[stay.memory, tensor, way] = round(sum(moved.get(one) for one in directions))
    return counts


def run_accelforge(cases: list[Case], python: str) -> list[dict[str, Any]]:
    """What AccelForge says of exports, all in one run of its Python.

    Raises:
        SystemExit: It is not there, or fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / str(place) for place in range(len(cases))]
        for case, folder in zip(cases, folders, strict=True):
            write_files(folder, accelforge_files(case.nest))
        words = [python, runner.__file__, *map(str, folders)]
        try:
            run = subprocess.run(words, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
            raise SystemExit(f"--accelforge {python}: {said}") from None
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def accelforge_says(case: Case, said: dict[str, Any]) -> Counts:
    """Elements that AccelForge reads and writes in every memory."""
    widths = case.nest.chip.widths
    bits = {"input": widths.input, "filter": widths.filter, "output": widths.psum}
    counts: Counts = {}
    for store in ChipStores(case.nest).all:
        for tensor in store.tensors:
            for way in ("read", "write"):
                calls = said["actions"].get(f"{store.name}/{ARRAYS[tensor]}/{way}", 0.0)
                counts[store.level, tensor, way] = round(calls / bits[tensor])
    return counts


def cause_of(case: Case, tool: str, tensor: str) -> str:
    """The rule by which a tool's count of a tensor differs."""
    if tool == "zigzag":
        return ONCE if tensor == "output" else INSIDE
    steps = [[stay.steps for stay in stays(case.nest, tensor)] for stays in STAYS.values()]
    return EACH if tensor == "output" and steps[0] == steps[1] else ANEW


def compare_one(case: Case, tool: str, theirs: Counts) -> Iterator[dict[str, Any]]:
    """A row for each count of a mapping."""
    by_rule = COUNTED[tool](case.nest)
    for key, count in exact_counts(case, tool).items():
        memory, tensor, way = key
        cause = "" if count == theirs[key] else cause_of(case, tool, tensor)
        if cause and by_rule[key] != theirs[key]:
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


def compare(found: list[Case], accelforge: str | None) -> Iterator[dict[str, Any]]:
    """Rows of mappings, by ZigZag and, where its Python is given, AccelForge."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        for case in found:
            said = zigzag_says(case, zigzag_evaluated(case, Path(name)))
            yield from compare_one(case, "zigzag", said)
    if accelforge is not None:
        for case, one in zip(found, run_accelforge(found, accelforge), strict=True):
            yield from compare_one(case, "accelforge", accelforge_says(case, one))


def summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Equal counts by tool, chip, memory, tensor and way, and the causes of others."""
    names = ("tool", "chip", "memory", "tensor", "way")
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return [
        dict(zip(names, key, strict=True))
        | {
            "mappings": len(group),
            "equal": sum(not row["cause"] for row in group),
            "given_by_rules": sum(row["by_rule"] for row in group),
            "causes": "; ".join(sorted({row["cause"] for row in group if row["cause"]})),
        }
        for key, group in groups.items()
    ]


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mappings", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--accelforge", metavar="PYTHON", help="a Python 3.12 that has AccelForge")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = list(compare(list(cases(options.mappings, options.seed)), options.accelforge))
    causes = Counter((row["tool"], row["cause"]) for row in rows)
    for tool in dict.fromkeys(row["tool"] for row in rows):
        own = [row for row in rows if row["tool"] == tool]
        print(f"{tool}: {options.mappings} mappings, {len(own)} counts: {causes[tool, '']} equal,")
        print(f"  {sum(row['by_rule'] for row in own)} are what its rules give")
    for (tool, cause), count in causes.items():
        if cause:
            print(f"{count:5} {tool:10} {cause}")
    if options.csv is not None:
        write_table(options.csv, summed(rows))
    raise SystemExit(any(cause == NO_CAUSE for _, cause in causes))


if __name__ == "__main__":
    main()
