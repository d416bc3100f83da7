"""Exported mappings run by ZigZag: its counts beside the exact model's, with causes of differences.

    pip install 'marl-mapper[dev]'
    python benchmarks/zigzag_counts.py [--mappings 24] [--csv docs/data/zigzag-counts.csv]

Random mappings of small layers are written by `mapper export --to zigzag`, read by ZigZag's own
parsers, and evaluated with every loop in the memory that the mapping says. ZigZag has neither
credit for halos nor clusters outside of the inner loops, so the exact model counts with
`halo_time=none`.
"""

from __future__ import annotations

import argparse
import csv
import logging
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import cost_models
import layers
from cost_models import Accelerator, Mapping
from layers import DIMS
from mapper.export.export_files import write_files
from mapper.export.loop_factors import LoopFactors, factors_of
from mapper.export.zigzag_files import spatial_loops, temporal_loops, zigzag_files

LAYERS = (
    "conv:K=8,C=4,Y=14,X=14,R=3,S=3",
    "conv:K=16,C=8,Y=9,X=9,R=1,S=1",
    "conv:K=4,C=6,Y=13,X=13,R=3,S=3,stride=2",
    "gemm:M=16,N=24,K=12",
    "dsconv:C=8,Y=10,X=10,R=3,S=3",
)
CHIP = Accelerator(16, None, None, None, None)
HALO_AMONG_CLUSTERS = "ZigZag splits the array inside the inner loops: clusters share other halos"


def divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def random_mapping(
    layer: layers.Layer, rng: np.random.Generator, num_pes: int = CHIP.num_pes
) -> Mapping:
    """A mapping whose tiles and units all divide."""
    coupled = [d for i, d in enumerate(DIMS) if any(row[i] for row in layer.coupling)]
    extents = dict(zip(DIMS, layer.extents, strict=True))
    outer_dim, inner_dim = rng.choice([d for d in coupled if extents[d] > 1], 2)
    pes = int(rng.choice([k for k in divisors(num_pes) if k <= extents[inner_dim]]))
    clusters = num_pes // pes
    outer, inner = {}, {}
    for dim in coupled:
        units = clusters if dim == outer_dim else 1
        fitting = [t for t in divisors(extents[dim]) if extents[dim] % (t * units) == 0]
        outer[dim] = int(rng.choice(fitting or [extents[dim]]))
        units = pes if dim == inner_dim else 1
        fitting = [t for t in divisors(outer[dim]) if outer[dim] % (t * units) == 0]
        inner[dim] = int(rng.choice(fitting or [outer[dim]]))
    orders = ["".join(rng.permutation(list("KCYXRS"))) for _ in range(2)]
    return Mapping((orders[0], orders[1]), (outer_dim, inner_dim), (outer, inner), pes)


def evaluated(folder: Path, nest: LoopFactors) -> Any:
    """ZigZag's evaluation of an exported mapping, each loop in the memory that the mapping says.

    As in the exact model, every MAC reads its operands from L1: nothing stays at its output pins.
    """
    from zigzag.cost_model.cost_model import CostModelEvaluation
    from zigzag.datatypes import LayerDim, LayerOperand
    from zigzag.mapping.temporal_mapping import TemporalMapping, TemporalMappingType
    from zigzag.stages.mapping.spatial_mapping_conversion import SpatialMappingConversionStage
    from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
    from zigzag.stages.parser.workload_parser import WorkloadParserStage

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
    loops = [
        [(LayerDim(dim), steps) for dim, steps in part] for part in temporal_loops(nest).values()
    ]
    operands = [LayerOperand(name) for name in "IWO"]
    temporal = TemporalMapping(
        {operand: [list(part) for part in loops] for operand in operands},
        layer,
        TemporalMappingType.EVEN,
    )
    return CostModelEvaluation(
        accelerator=chip,
        layer=layer,
        spatial_mapping=spatial,
        spatial_mapping_int=whole,
        temporal_mapping=temporal,
        access_same_data_considered_as_no_access=False,
    )


def zigzag_moves(found: Any) -> dict[str, int]:
    """Elements that ZigZag moves between the memories."""
    from zigzag.datatypes import LayerOperand
    from zigzag.mapping.data_movement import DataDirection, DataMoveAttr

    moved: dict[str, Any] = found.mapping.unit_mem_data_movement

    def count(operand: str, level: int, direction: DataDirection) -> int:
        pattern = moved[LayerOperand(operand)][level]
        return int(pattern.get_attribute(DataMoveAttr.DATA_ELEM_MOVE_COUNT).get(direction))

    down, up = DataDirection.RD_OUT_TO_LOW, DataDirection.WR_IN_BY_LOW
    return {
        "dram_in": count("I", 2, down),
        "dram_fil": count("W", 2, down),
        "dram_out_w": count("O", 2, up),
        "dram_out_r": count("O", 2, down),
        "l2r_in": count("I", 1, down),
        "l2r_fil": count("W", 1, down),
    }


def cause_of(name: str, ours: int, theirs: int, nest: LoopFactors) -> str:
    """Why the counts differ; empty where they agree, or where no cause is known."""
    if ours == theirs:
        return ""
    if name == "l2r_in" and set(nest.mapping.parallel) & set("YXRS"):
        return HALO_AMONG_CLUSTERS
    return ""


def compare_one(text: str, mapping: Mapping, folder: Path) -> list[dict[str, Any]]:
    """A row for each count of a mapping."""
    layer = layers.parse(text)
    nest = factors_of(layer, CHIP, mapping)
    write_files(folder, zigzag_files(nest))
    theirs = zigzag_moves(evaluated(folder, nest))
    cost = cost_models.load("exact", halo_time="none").evaluate(layer, CHIP, mapping)
    spread = [f"{dim}{units}" for part in spatial_loops(nest).values() for dim, units in part]
    return [
        {
            "layer": text,
            "orders": "/".join(mapping.orders),
            "spatial": " ".join(spread),
            "count": name,
            "exact": cost.counts[name],
            "zigzag": value,
            "cause": cause_of(name, cost.counts[name], value, nest),
        }
        for name, value in theirs.items()
    ]


def compare(mappings: int, seed: int) -> list[dict[str, Any]]:
    """Rows of random mappings, over the layers in turn."""
    logging.disable(logging.CRITICAL)
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for place in range(mappings):
            text = LAYERS[place % len(LAYERS)]
            rows += compare_one(text, random_mapping(layers.parse(text), rng), Path(name))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mappings", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = compare(options.mappings, options.seed)
    equal = sum(row["exact"] == row["zigzag"] for row in rows)
    print(f"{options.mappings} mappings, {len(rows)} counts: {equal} equal")
    for cause, count in Counter(r["cause"] for r in rows if r["exact"] != r["zigzag"]).items():
        print(f"{count:5} {cause or 'no known cause'}")
    if options.csv is not None:
        with options.csv.open("w", encoding="utf-8", newline="") as text:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
