"""FSRCNN fused tile by tile beside DeFiNES, over its tile sizes and overlaps.

    python -m benchmarks fsrcnn --checkout DEFINES --python PYTHON   # DeFiNES' own figures
    python -m benchmarks fsrcnn

The first command runs case study 1 of DeFiNES (Mei et al., HPCA 2023; KULeuven-MICAS/DeFiNES on
GitHub): the eight layers of FSRCNN as one group on its chip, mapped by LOMA with so many loops;
PYTHON has numpy below 2, networkx, sympy and matplotlib. The second puts our figures beside them
(parts.py, meta_prototype.yaml) under three rules. `one`: all tensors
between layers are in one level, as `mapper search --fuse tiles` has it. `own`: each is in the level
that moves it for least, the input among them. `levels`: in those that DeFiNES chooses, tile by tile
(tiles.py).
"""

from __future__ import annotations

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.frame import DATA, Row, Table, filled, grouped, known, refuse, show
from benchmarks.fsrcnn.homes import FusedCase, Rules
from benchmarks.fsrcnn.parts import LEVELS, PartCost
from benchmarks.fsrcnn.tiles import cost_by_tiles

ROWS, COLUMNS = (1, 4, 18, 72, 270, 540), (1, 4, 16, 60, 240, 960)
"""DeFiNES' tile sizes."""
KEPT = {
    "none": (False, False),
    "columns": (False, True),
    "both": (True, True),
    "rows": (True, False),
}
"""Whether halos are kept along rows, and along columns; DeFiNES does not know the last."""
RULES = {"one": Rules(), "own": Rules(LEVELS, copied=True)}
PLACES = ("DRAM", "Global", "Local")
KEY = ("halos", "columns", "rows")
ORACLE = DATA / "fused-fsrcnn-defines.csv"
FIGURES = ("energy_nj", "cycles", *(f"{place}_nj" for place in PLACES))
COUNTED = (
    *(f"defines {name}" for name in FIGURES),
    *(f"{rule} {name}" for rule in (*RULES, "levels") for name in FIGURES),
    *(f"{rule} ratio" for rule in (*RULES, "levels")),
)


def keys(given: Any) -> list[tuple[str, int, int]]:
    """Ways to cut the group."""
    return list(product(given.halos, given.columns, given.rows))


def run_defines(given: Any) -> bool:
    """Run DeFiNES where its figures are missing."""

    def row(halos: str, columns: int, rows: int, loops: int) -> Row:
        program = Path(__file__).with_name("defines_run.py")
        words = [given.python, "-P", program, given.checkout, columns, rows, loops, halos]
        try:
            done = subprocess.run(map(str, words), stdout=subprocess.PIPE, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            refuse(f"DeFiNES: {error}")
        print(halos, columns, rows, flush=True)
        return defines_row(json.loads(done.stdout))

    some = [(*key, given.loops) for key in keys(given) if key[0] != "rows"]
    out = ORACLE if given.out == DATA / TABLE.file else given.out
    filled(out, (*KEY, "loops", *FIGURES, "defines_s"), some, row)
    return False


def defines_row(found: Row) -> Row:
    """What DeFiNES says, in our units."""
    energy = found["energy_pj"]
    places = {
        f"{place}_nj": sum(
            energy.get(f"{what}_{place.lower()}", 0.0) for what in ("I", "O", "copy")
        )
        / 1e3
        for place in PLACES
    }
    places["DRAM_nj"] += energy["W_dram"] / 1e3
    rounded = {name: f"{value:.1f}" for name, value in places.items()}
    return {"energy_nj": f"{energy['total'] / 1e3:.1f}", "cycles": found["cycles"], **rounded,
            "defines_s": f"{found['cpu_s']:.1f}"}  # fmt: skip


def figures(cost: PartCost | None) -> Row:
    """Our figures, in the units of the file; empty where a level has no room."""
    if cost is None:
        return dict.fromkeys(FIGURES, "")
    places = {f"{place}_nj": f"{cost.energy[place] / 1e3:.1f}" for place in PLACES}
    return {"energy_nj": f"{cost.total / 1e3:.1f}", "cycles": f"{cost.cycles:.0f}", **places}


def row_of(given: Any, halos: str, columns: int, rows: int) -> Row:
    """One way to cut the group."""
    tile, keep = (rows, columns), KEPT[halos]
    costs: dict[str, PartCost | None] = {
        name: FusedCase(tile, keep, rules).cost() for name, rules in RULES.items()
    }
    costs["levels"] = None if halos == "rows" else cost_by_tiles(tile, keep)
    key = {**dict(zip(KEY, map(str, (halos, columns, rows)), strict=True)),
           "loops": str(given.loops)}  # fmt: skip
    said: Row = next((one for one in known(ORACLE) if key.items() <= one.items()), {})
    found: Row = {f"defines {name}": said.get(name, "") for name in FIGURES}
    for name, cost in costs.items():
        found |= {f"{name} {figure}": value for figure, value in figures(cost).items()}
        ratio = cost.total / 1e3 / float(said["energy_nj"]) if cost and said else None
        found[f"{name} ratio"] = "" if ratio is None else f"{ratio:.3f}"
    return found


def told(rows: list[Row], given: Any) -> None:
    """The best tile of each overlap, and the least and the largest ratio to DeFiNES' energy."""
    best = []
    for halos, some in grouped(rows, "halos").items():
        line: Row = {"halos": halos}
        for name in ("defines", *RULES, "levels"):
            there = [one for one in some if one[f"{name} energy_nj"]]
            least = min(there, key=lambda one: float(one[f"{name} energy_nj"]), default=None)
            line[name] = f"{least['columns']} x {least['rows']}" if least else ""
            ratios = [float(one[f"{name} ratio"]) for one in there if one.get(f"{name} ratio")]
            if name != "defines":
                line[f"{name} ratios"] = f"{min(ratios)} to {max(ratios)}" if ratios else ""
        best.append(line)
    show(best)


TABLE = Table(
    __doc__,
    (*KEY, *COUNTED),
    keys,
    row_of,
    "fused-fsrcnn.csv",
    {
        "checkout": Path,
        "python": ("python", "that runs DeFiNES"),
        "loops": (5, "loops that LOMA permutes at most"),
        "halos": list(KEPT),
        "columns": list(COLUMNS),
        "rows": list(ROWS),
    },
    {"halos": ["both"], "columns": [60], "rows": [540, 72]},
    told,
    instead={"checkout": run_defines},
)
