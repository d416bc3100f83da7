"""Run Timeloop's mapper or model on a file; needs nothing of this project.

    PYTHON -P benchmarks/field/timeloop_map.py FOLDER PROGRAM

FOLDER has ``input.yaml``; PROGRAM is ``timeloop-mapper`` or ``timeloop-model`` 3.0.3. A line of
JSON: the mapper's directives, energy [pJ], cycles and processor time [s].
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml


def run_one(folder: Path, program: Path) -> dict[str, Any]:
    """What the program says of the file."""
    # its library is built beside it
    there = os.environ | {"LD_LIBRARY_PATH": str(program.parent)}
    began = sum(os.times()[:4])
    run = subprocess.run(
        [program, "input.yaml"], cwd=folder, env=there, capture_output=True, text=True, check=False
    )
    statistics, mapping = folder / "out.stats.txt", folder / "out.map.yaml"
    if run.returncode < 0:
        raise SystemExit("no answer in its processor time")
    if not statistics.exists():
        raise SystemExit((run.stdout + run.stderr).strip().splitlines()[-1])
    text = statistics.read_text(encoding="utf-8")
    energies = re.findall(r"Energy \(total\) +: ([\d.]+) pJ", text)
    found = yaml.safe_load(mapping.read_text(encoding="utf-8")) if mapping.exists() else {}
    return {
        "mapping": found.get("mapping", []),
        "energy_pj": sum(map(float, energies)),
        "cycles": max(map(int, re.findall(r"Cycles +: (\d+)", text))),
        "cpu_s": sum(os.times()[:4]) - began,
    }


if __name__ == "__main__":
    print(json.dumps(run_one(Path(sys.argv[1]), Path(sys.argv[2]))), flush=True)
