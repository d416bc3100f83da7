"""Run DeFiNES' FSRCNN case; needs nothing of this project, and a Python that has its needs.

    PYTHON -P benchmarks/fsrcnn/defines_run.py CHECKOUT COLUMNS ROWS LOOPS none|columns|both...

CHECKOUT is one of github.com/KULeuven-MICAS/DeFiNES, COLUMNS and ROWS those of a fused tile, LOOPS
how many LOMA permutes at most (``main_artifact.py`` has 8), and the last words say along which axes
halos are kept. A line of JSON for each of them: energy [pJ] of MACs and of each operand's memories,
cycles, those of copies between layers, and processor time [s].
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import Counter
from typing import Any

KEPT = {"none": (False, False), "columns": (True, False), "both": (True, True)}
"""Whether halos are kept along columns and along rows."""
MEMORIES = {
    "I": ("local", "global", "dram"),
    "W": ("register", "local", "global", "dram"),
    "O": ("register", "local", "global", "dram"),
}
"""Memories of each operand of ``inputs/HW/Meta_prototype_DF.py``, from the PEs on."""


def run(columns: int, rows: int, loops: int, kept: str) -> dict[str, Any]:
    """One tile size with halos kept along some axes."""
    from classes import stages

    main = stages.MainStage(
        [
            stages.WorkloadAndAcceleratorParserStage,
            stages.DfStackCutIfWeightsOverflowStage,
            stages.DepthFirstStage,
            stages.SpatialMappingConversionStage,
            stages.RemoveExtraInfoStage,
            stages.MinimalEnergyStage,
            stages.LomaStage,
            stages.ZigZagCostModelStage,
        ],
        loma_lpf_limit=loops,
        workload_path="inputs.WL.Meta_prototype.workload_fsrcnn",
        accelerator_path="inputs.HW.Meta_prototype_DF",
        df_tilesize_x=columns,
        df_tilesize_y=rows,
        df_horizontal_caching=KEPT[kept][0],
        df_vertical_caching=KEPT[kept][1],
    )
    began = time.process_time()
    energy: Counter[str] = Counter()
    cycles = copies = 0
    for one, _ in main.run():
        copied = not hasattr(one, "ideal_cycle")
        energy["mac"] += one.MAC_energy
        for operand, levels in one.energy_breakdown_further.items():
            name = {"I1": "I", "I2": "W"}.get(str(operand), str(operand))
            for memory, moved in zip(MEMORIES[name], levels, strict=False):
                what = "copy" if copied else name
                energy[f"{what}_{memory}"] += sum(
                    getattr(moved, way)
                    for way in ("rd_out_to_low", "wr_in_by_low", "rd_out_to_high", "wr_in_by_high")
                )
        cycles += int(one.latency_total1)
        copies += copied * int(one.latency_total1)
        energy["total"] += one.energy_total
    return {"energy_pj": dict(energy), "cycles": cycles, "copy_cycles": copies,
            "cpu_s": time.process_time() - began}  # fmt: skip


if __name__ == "__main__":
    checkout, *sizes = sys.argv[1:5]
    sys.path.insert(0, checkout)
    logging.disable(logging.CRITICAL)
    for kept in sys.argv[5:]:
        print(json.dumps(run(*map(int, sizes), kept)), flush=True)
