"""Map a problem by AccelForge, or price a mapping; needs nothing of this project, Python 3.12.

    PYTHON benchmarks/field/accelforge_map.py FOLDER METRIC

FOLDER has ``arch.yaml`` and ``workload.yaml``. A line of JSON: the mapping's nodes, outermost
first and each with those inside, the metric in J and s, and processor and wall time [s].
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def map_one(folder: Path, metric: str) -> dict[str, Any]:
    """The mapping of the least metric."""
    import accelforge
    from accelforge.frontend.mapper.metrics import Metrics
    from accelforge.mapper.FFM.main import map_workload_to_arch

    accelforge.set_n_parallel_jobs(1)
    spec = accelforge.Spec.from_yaml(str(folder / "arch.yaml"), str(folder / "workload.yaml"))
    spec.mapper.metrics = Metrics[metric]
    began, clock = time.process_time(), time.perf_counter()
    found = map_workload_to_arch(spec, print_progress=False, eval_in_detail=False)
    times = {"cpu_s": time.process_time() - began, "wall_s": time.perf_counter() - clock}
    best = found.data.iloc[0]
    nodes = best["Total<SEP>mapping"](_for_model=True).nodes
    value = float(best[f"Total<SEP>{metric.lower()}"])
    return {"nodes": list(map(plain, nodes)), "value": value, **times}


def plain(node: Any) -> dict[str, Any]:
    """A node of a mapping as plain values, with those inside."""
    said: dict[str, Any] = {"node": type(node).__name__}
    for name in ("rank_variable", "tile_shape", "component", "tensors", "name", "einsum"):
        value = getattr(node, name, None)
        if value is not None:
            said[name] = list(map(str, value)) if name == "tensors" else str(value)
    branches = getattr(node, "nodes", None)
    return said if branches is None else said | {"nodes": list(map(plain, branches))}


if __name__ == "__main__":
    print(json.dumps(map_one(Path(sys.argv[1]), sys.argv[2])), flush=True)
