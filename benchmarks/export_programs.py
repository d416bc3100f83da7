"""Programs that `mapper export --to c` and `--to python` write, run on random mappings.

    python -m benchmarks export_programs --cases 200 --csv docs/data/export-programs.csv

Each case is a tiny layer (all kinds; strides, dilation, groups, batches), a chip of one to four
memories with up to two axes a fan-out, and a mapping with ragged tiles. The program is compiled by
gcc, its outputs are compared with NumPy's on random integers, and the order of MACs of each unit
with the simulator's, step by step. With OpenMP the outputs are compared again.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import Row, Summary, show
from cost_models import Chain, Loop
from layers import DIMS
from mapper.export.export_source import ExportSource
from tests.mapper.programs import by_numpy, operands, random_case, run_c, run_python, simulated

COLUMNS = ("memories", "cases", "ragged", "strides", "dilation", "groups", "batch", "two axes")
CHECKS = ("outputs", "order", "parallel outputs", "python outputs", "python order")


def features(source: ExportSource) -> dict[str, bool]:
    """What a case has."""
    layer, chip = source.layer, source.chip
    loops = source.mapping.loops(layer, chip if isinstance(chip, Chain) else chip.num_pes)
    return {
        "ragged": _ragged(loops, dict(zip(DIMS, layer.extents, strict=True))),
        "strides": layer.stride != 1,
        "dilation": layer.dilation != 1,
        "groups": layer.groups > 1,
        "batch": layer.N > 1,
        "two axes": any(loop.axis for loop in loops),
    }


def _ragged(loops: list[Loop], sizes: dict[str, int]) -> bool:
    """Whether some tile is cut off at the end of the one around it."""
    for loop in loops:
        if sizes[loop.dim] % loop.step and sizes[loop.dim] > loop.step:
            return True
        sizes[loop.dim] = min(loop.step, sizes[loop.dim])
    return False


def check(source: ExportSource, rng: np.random.Generator, folder: Path) -> dict[str, bool]:
    """Which checks a case's programs pass."""
    given = operands(source, rng)
    expected = by_numpy(source.layer, given[0], given[1], given[2].shape)
    walked = simulated(source)
    found = {"python order": run_python(source, given) == walked}
    found["python outputs"] = bool((given[2] == expected).all())
    found["order"] = run_c(source, given, folder) == walked
    found["outputs"] = bool((given[2] == expected).all())
    run_c(source, given, folder, openmp=True)
    found["parallel outputs"] = bool((given[2] == expected).all())
    return found


def rows_of(given: Any) -> list[Row]:
    """A row a number of memories."""
    if shutil.which("gcc") is None:
        sys.exit("export_programs: gcc is not found on PATH, expected a C compiler; install gcc")
    rows = [Counter[str](memories=memories) for memories in range(1, 5)]
    for number in range(given.cases):
        rng, row = np.random.default_rng((49, number)), rows[number % 4]
        source = random_case(rng, row["memories"])
        with tempfile.TemporaryDirectory() as folder:
            passed = check(source, rng, Path(folder))
        row.update(cases=1, **{name: int(has) for name, has in features(source).items()})
        row.update({name: int(ok) for name, ok in passed.items()})
        if not all(passed.values()):
            print(f"case {number}: {[name for name, ok in passed.items() if not ok]}", flush=True)
    return [{name: row[name] for name in (*COLUMNS, *CHECKS)} for row in rows]


def told(rows: Any, _: Any) -> bool:
    """Print the table; true where a check failed."""
    show(rows)
    return any(row[name] != row["cases"] for row in rows for name in CHECKS)


TABLE = Summary(__doc__, rows_of, options={"cases": 200}, quick={"cases": 4}, told=told)
