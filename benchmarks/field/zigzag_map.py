"""Map a problem by ZigZag; needs nothing of this project, and a Python that has ZigZag 3.9.1.

    PYTHON -P benchmarks/field/zigzag_map.py FOLDER loma|salsa

FOLDER has ``accelerator.yaml``, ``workload.yaml`` and ``mapping.yaml``. A line of JSON: loops in
time by operand and memory, innermost first; loops in space by axis; energy [pJ]; processor time
[s].
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

SPATIAL_MAPPINGS = 3
"""Spatial mappings that are looked at: ZigZag's default."""
PRIME_LOOPS = 6
"""Loops that LOMA permutes: ZigZag's default."""


def map_one(folder: Path, engine: str) -> dict[str, Any]:
    """The mapping of least energy; SALSA draws from the global generator, whose seed is 0."""
    import random

    from zigzag.mapping.temporal_mapping import TemporalMappingType
    from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage
    from zigzag.stages.main import MainStage
    from zigzag.stages.mapping.salsa import SalsaStage
    from zigzag.stages.mapping.spatial_mapping_generation import SpatialMappingGeneratorStage
    from zigzag.stages.mapping.temporal_mapping_generator_stage import TemporalMappingGeneratorStage
    from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
    from zigzag.stages.parser.workload_parser import WorkloadParserStage
    from zigzag.stages.results.reduce_stages import MinimalEnergyStage
    from zigzag.stages.workload_iterator import WorkloadStage

    logging.disable(logging.CRITICAL)
    random.seed(0)
    stages = [
        WorkloadParserStage,
        AcceleratorParserStage,
        WorkloadStage,
        MinimalEnergyStage,
        SpatialMappingGeneratorStage,
        MinimalEnergyStage,
        SalsaStage if engine == "salsa" else TemporalMappingGeneratorStage,
        CostModelStage,
    ]
    main = MainStage(
        list_of_callables=stages,
        accelerator=str(folder / "accelerator.yaml"),
        workload=str(folder / "workload.yaml"),
        mapping=str(folder / "mapping.yaml"),
        loma_lpf_limit=PRIME_LOOPS,
        loma_show_progress_bar=False,
        nb_mappings_generated=SPATIAL_MAPPINGS,
        enable_mix_spatial_mapping_generation=True,
        access_same_data_considered_as_no_access=False,
        temporal_mapping_type=TemporalMappingType.UNEVEN,
    )
    began = time.process_time()
    best = main.run()[0][0]
    cpu_s = time.process_time() - began
    return {
        "loops": {
            operand.name: [[(dim.name, int(n)) for dim, n in level] for level in levels]
            for operand, levels in best.temporal_mapping.mapping_dic_stationary.items()
        },
        "units": {
            axis.name: [(dim.name, int(n)) for dim, n in unrolled.items()]
            for axis, unrolled in best.layer.spatial_mapping.items()
        },
        "energy_pj": float(best.energy_total),
        "cpu_s": cpu_s,
    }


if __name__ == "__main__":
    print(json.dumps(map_one(Path(sys.argv[1]), sys.argv[2])), flush=True)
