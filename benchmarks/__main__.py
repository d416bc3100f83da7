"""Run a benchmark by its name.

    python -m benchmarks levels tests/cost_models/data/levels_reference_sample.jsonl
    python -m benchmarks paper --quick

The first is what ``python -m benchmarks.levels FILE`` is.
"""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from pathlib import Path

FOLDERS = {
    name: f"benchmarks.{name}.command" for name in ("paper", "mpe", "published", "optima", "field")
}
"""Benchmarks of many steps, which are folders; ``main`` of the module takes the words."""


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
    if name in FOLDERS:
        import_module(FOLDERS[name]).main(sys.argv[2:])
        return
    del sys.argv[0]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
