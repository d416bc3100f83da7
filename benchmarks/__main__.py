"""Run a benchmark by its name.

    python -m benchmarks levels tests/cost_models/data/levels_reference_sample.jsonl

is what ``python -m benchmarks.levels FILE`` is.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem[0] != "_")
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in names:
        print(f"benchmarks: got {name!r}, expected one of {', '.join(names)}", file=sys.stderr)
        raise SystemExit(2)
    del sys.argv[0]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
