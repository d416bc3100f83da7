"""Map a problem by AccelForge, or count mappings; needs nothing of this project, Python 3.12.

    PYTHON -P benchmarks/field/accelforge_map.py FOLDER METRIC
    PYTHON -P benchmarks/field/accelforge_map.py counts FOLDER...

PYTHON is one with `pip install accelforge==1.0.467`.

FOLDER has ``arch.yaml`` and ``workload.yaml``. A line of JSON: the mapping's nodes, outermost
first and each with those inside, the metric in J and s, and processor and wall time [s]. With
``counts`` a line for each export: calls of every action by ``einsum/memory/tensor/action``, energy
[J] without leakage, and seconds of all einsums, one after another, each as long as its slowest
component.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

SEPARATOR = "<SEP>"


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
    nodes = best[f"Total{SEPARATOR}mapping"](_for_model=True).nodes
    value = float(best[f"Total{SEPARATOR}{metric.lower()}"])
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


def counts(folder: Path) -> dict[str, Any]:
    """What AccelForge says of one export."""
    import accelforge

    files = (str(folder / f"{name}.yaml") for name in ("arch", "workload", "mapping"))
    found = accelforge.Spec.from_yaml(*files).evaluate_mapping().data.iloc[0]
    said: dict[str, Any] = {"actions": {}}
    for column, value in found.items():
        einsum, *parts = str(column).split(SEPARATOR)
        if parts[0] == "action":
            said["actions"]["/".join((einsum, *parts[1:]))] = float(value)
    totals = {"energy_j": "dynamic_energy", "latency_s": "latency"}
    return said | {name: float(found[f"Total{SEPARATOR}{key}"]) for name, key in totals.items()}


if __name__ == "__main__":
    if sys.argv[1] == "counts":
        for name in sys.argv[2:]:
            print(json.dumps(counts(Path(name))), flush=True)
    else:
        print(json.dumps(map_one(Path(sys.argv[1]), sys.argv[2])), flush=True)
