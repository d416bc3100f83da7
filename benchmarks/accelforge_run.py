"""Run exported mappings through AccelForge; needs nothing of this project, and Python 3.12.

    PYTHON benchmarks/accelforge_run.py FOLDER...

PYTHON is one with `pip install accelforge==1.0.467`. A line of JSON for each folder: calls of every
action by ``memory/tensor/action``, energy [J] without leakage, and seconds of each component.
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
    said: dict[str, Any] = {"actions": {}, "seconds": {}}
    for column, value in found.items():
        _, *parts = str(column).split(SEPARATOR)
        if parts[0] == "action":
            said["actions"]["/".join(parts[1:])] = float(value)
        elif parts[0] == "latency" and parts[1:]:
            said["seconds"][parts[1]] = float(value)
    return said | {"energy_j": float(found[f"Total{SEPARATOR}dynamic_energy"])}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(run(Path(name))), flush=True)
