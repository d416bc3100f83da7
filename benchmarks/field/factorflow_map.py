"""Map a problem by FactorFlow; needs a checkout of it, and nothing of this project.

    PYTHON -P benchmarks/field/factorflow_map.py FOLDER CHECKOUT

FOLDER has ``levels.json``: the levels, outermost first, and the product. A line of JSON: steps of
every level in its order of loops, outermost first; energy [pJ]; cycles; processor time [s].
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def map_one(folder: Path) -> dict[str, Any]:
    """The mapping of least EDP: its objective without the share of units that are used."""
    import arch
    import engine
    import factors
    import levels
    from settings import Settings

    kinds = {"memory": levels.MemLevel, "fanout": levels.FanoutLevel, "macs": levels.ComputeLevel}
    said = json.loads((folder / "levels.json").read_text(encoding="utf-8"))
    chip = arch.Arch([kinds[one.pop("kind")](**one) for one in said["levels"]], name="chip")
    product = factors.Shape(**said["product"])
    Settings.MULTITHREADED = Settings.VERBOSE = Settings.UTILIZATION_IN_WART = False
    Settings.forcedSettingsUpdate(chip, verbose=False)
    chip.fitConstraintsToComp(product, enforce=True)
    began = time.process_time()
    *_, found = engine.run_engine(chip, product, False)
    cpu_s = time.process_time() - began
    rows = [
        {"name": one.name, "loops": [(d, one.factors.dimProduct(d)) for d in one.dataflow]}
        for one in found
    ]
    energy_pj, cycles = float(engine.Energy(found)), float(engine.Latency(found))
    return {"levels": rows, "energy_pj": energy_pj, "cycles": cycles, "cpu_s": cpu_s}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[2])
    print(json.dumps(map_one(Path(sys.argv[1]))), flush=True)
