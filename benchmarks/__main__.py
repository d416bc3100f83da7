"""Run a benchmark by its name.

    python -m benchmarks levels tests/cost_models/data/levels_reference_sample.jsonl
    python -m benchmarks mast.update
    python -m benchmarks paper --quick

A benchmark is a module with a `TABLE` (see `benchmarks.frame`) or a function `main`; that of a
folder is the folder's module `command`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def modules() -> dict[str, str]:
    """The module of each benchmark by its name."""
    found, here = {}, Path(__file__).parent
    for path in sorted(here.rglob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if "\nTABLE = " in text or "\ndef main(" in text:
            name = ".".join(path.relative_to(here).with_suffix("").parts)
            found[name.removesuffix(".command")] = f"benchmarks.{name}"
    return found


def main() -> object:
    """Run the benchmark that is named; its exit code.

    Raises:
        SystemExit: None is named, or there is none of this name (2).
    """
    name, found = sys.argv[1] if len(sys.argv) > 1 else "", modules()
    if name not in found:
        print(f"benchmarks: got {name!r}, expected one of {', '.join(found)}", file=sys.stderr)
        raise SystemExit(2)
    del sys.argv[0]
    module = import_module(found[name])
    return module.TABLE.run() if hasattr(module, "TABLE") else module.main()


if __name__ == "__main__":
    sys.exit(main())
