"""Map a problem by ZigZag; needs nothing of this project, and a Python that has ZigZag 3.9.1.

    PYTHON -P benchmarks/field/zigzag_map.py FOLDER loma|salsa energy|edp|latency

FOLDER has ``accelerator.yaml``, ``workload.yaml`` and ``mapping.yaml``. A line of JSON: loops in
time by operand and memory, innermost first; loops in space by axis; energy [pJ]; cycles; processor
time [s].
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPATIAL_MAPPINGS = 3
"""Spatial mappings that are looked at: ZigZag's default."""
PRIME_LOOPS = 6
"""Loops that LOMA permutes: ZigZag's default."""


class _Here:
    """A process that runs where it is started: SALSA waits for ever for one that dies."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._target, self._args = target, args

    def start(self) -> None:
        """Run it to its end."""
        self._target(*self._args)

    def join(self) -> None:
        """It has ended."""


def map_one(folder: Path, engine: str, objective: str) -> dict[str, Any]:
    """The least mapping; SALSA draws from both global generators, whose seeds are 0."""
    import random

    import numpy as np
    from zigzag.mapping.temporal_mapping import TemporalMappingType
    from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage
    from zigzag.stages.main import MainStage
    from zigzag.stages.mapping import salsa
    from zigzag.stages.mapping.spatial_mapping_generation import SpatialMappingGeneratorStage
    from zigzag.stages.mapping.temporal_mapping_generator_stage import TemporalMappingGeneratorStage
    from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
    from zigzag.stages.parser.workload_parser import WorkloadParserStage
    from zigzag.stages.results.reduce_stages import (
        MinimalEDPStage,
        MinimalEnergyStage,
        MinimalLatencyStage,
    )
    from zigzag.stages.workload_iterator import WorkloadStage

    logging.disable(logging.CRITICAL)
    salsa.multiprocessing.Process = _Here
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    least = {"energy": MinimalEnergyStage, "edp": MinimalEDPStage, "latency": MinimalLatencyStage}
    stages = [
        WorkloadParserStage,
        AcceleratorParserStage,
        WorkloadStage,
        least[objective],
        SpatialMappingGeneratorStage,
        least[objective],
        salsa.SalsaStage if engine == "salsa" else TemporalMappingGeneratorStage,
        CostModelStage,
    ]
    main = MainStage(
        list_of_callables=stages,
        accelerator=str(folder / "accelerator.yaml"),
        workload=str(folder / "workload.yaml"),
        mapping=str(folder / "mapping.yaml"),
        loma_lpf_limit=PRIME_LOOPS,
        loma_show_progress_bar=False,
        salsa_opt_criterion=objective,
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
        "cycles": float(best.latency_total2),
        "cpu_s": cpu_s,
    }


if __name__ == "__main__":
    print(json.dumps(map_one(Path(sys.argv[1]), *sys.argv[2:])), flush=True)
