"""Map a problem by GAMMA on MAESTRO; needs a checkout of GAMMA, and nothing of this project.

    PYTHON -P benchmarks/field/gamma_map.py FOLDER CHECKOUT PROGRAM latency|energy|EDP

FOLDER has ``problem.json``: dimensions, chip, population and generations; PROGRAM is MAESTRO's. A
line of JSON: the mapping as MAESTRO's text, cycles, energy [nJ] and processor time [s].
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

CONSTRAINT = "data.mapping_cstr.advanced_cstr.costmodel_cstr.maestro_cstr"
"""What GAMMA's own command takes where nothing is said."""


def map_one(folder: Path, program: str, objective: str) -> dict[str, Any]:
    """The least mapping of its own command's settings; both global generators have seed 0."""
    import gamma
    import numpy as np
    import utils

    said = json.loads((folder / "problem.json").read_text(encoding="utf-8"))
    layer, chip = said["dimensions"], said["chip"]
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    gamma.cpu_count = lambda: 1  # workers that run side by side write files of one name
    fitness = [objective, "energy" if objective == "latency" else "latency"]
    limits = utils.Constraint(num_pe=chip["num_pe"])
    utils.put_into_actual_cstr(importlib.import_module(CONSTRAINT).mapping_cstr, limits)
    mapper = gamma.GAMMA(dimension=layer, fitness=fitness, map_cstr=limits, log_level=0, **chip)
    mapper._executable = program
    mapper.reset_dimension(fitness=fitness, constraints={"area": -1e6}, dimension=layer)
    began = sum(os.times()[:4])
    kept, _ = mapper.run(
        layer, num_population=said["population"], num_generations=said["generations"]
    )
    if kept["best_sol"] is None:
        raise ValueError("none of its mappings fits")
    cycles, _, energy_nj, *_ = mapper.get_indiv_info(kept["best_sol"])
    cpu_s = sum(os.times()[:4]) - began
    mapper.write_maestro(kept["best_sol"], m_file="best")
    text = (folder / "best.m").read_text(encoding="utf-8")
    return {"mapping": text, "cycles": cycles, "energy_nj": energy_nj, "cpu_s": cpu_s}


if __name__ == "__main__":
    home = Path(sys.argv[2])
    sys.path[:0] = map(str, (home / "src" / "GAMMA", home / "src", home))
    os.environ["MPLBACKEND"] = "agg"
    with contextlib.redirect_stdout(sys.stderr):
        found = map_one(Path(sys.argv[1]), *sys.argv[3:])
    print(json.dumps(found), flush=True)
