"""Run exported mappings through AccelForge; needs nothing of this project, and Python 3.12.

    PYTHON benchmarks/accelforge_run.py FOLDER...

PYTHON is one with `pip install accelforge==1.0.467`. A line of JSON for each folder: calls of every
action by ``einsum/memory/tensor/action``, energy [J] without leakage, and seconds of all einsums,
one after another, each as long as its slowest component.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SEPARATOR = "<SEP>"


def run(folder: Path) -> dict[str, Any]:
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
    for name in sys.argv[1:]:
        print(json.dumps(run(Path(name))), flush=True)
