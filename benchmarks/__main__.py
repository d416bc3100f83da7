"""Run a benchmark by its name.

    python -m benchmarks levels tests/cost_models/data/levels_reference_sample.jsonl
    python -m benchmarks paper --quick

The first is what ``python -m benchmarks.levels FILE`` is.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

FOLDERS = {"paper": "benchmarks.paper.command", "mpe": "benchmarks.mpe.command"}
"""Benchmarks of many steps, which are folders, and the module that runs each."""


def main() -> None:
    """Run the benchmark that is named.

    Raises:
        SystemExit: None is named, or there is none of this name (2).
    """
    files = (path.stem for path in Path(__file__).parent.glob("*.py"))
    names = sorted([*FOLDERS, *(name for name in files if name[0] != "_")])
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in names:
        print(f"benchmarks: got {name!r}, expected one of {', '.join(names)}", file=sys.stderr)
        raise SystemExit(2)
    del sys.argv[0]
    runpy.run_module(FOLDERS.get(name, f"benchmarks.{name}"), run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
