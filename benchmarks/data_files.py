"""Where each file of docs/data comes from: the benchmark that writes it, or the one that did.

python -m benchmarks data_files            # files without an entry, and entries without a file
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.__main__ import modules

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "data"
_KNOWN: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
WRITTEN, ANSWERED = _KNOWN["written"], _KNOWN["answered"]
"""Benchmark -> patterns of the files that it writes; one that left -> its last commit, too."""


def entries() -> dict[str, list[str]]:
    """Patterns of the files of each benchmark, those of answered questions too."""
    found = {name: commit.split()[1:] for name, commit in ANSWERED.items()}
    for name, module in modules().items():
        path = module.removeprefix("benchmarks.").replace(".", "/") + ".py"
        found[path] = [name.replace("_", "-").replace(".", "-") + ".*"]
    return found | {name: patterns.split() for name, patterns in WRITTEN.items()}


def faults() -> list[str]:
    """Files without exactly one entry, and entries without a benchmark or a file, a line each."""
    names, known, lines = sorted(path.name for path in DATA.iterdir()), entries(), []
    for name in names:
        found = [who for who, some in known.items() if any(fnmatch(name, one) for one in some)]
        if len(found) != 1:
            lines.append(f"docs/data/{name}: has {len(found)} entries {found}, expected one")
    for benchmark, patterns in WRITTEN.items():
        if not (ROOT / "benchmarks" / benchmark).exists():
            lines.append(f"benchmarks/{benchmark}: is not there, and has an entry")
        for pattern in patterns.split():
            if not any(fnmatch(name, pattern) for name in names):
                lines.append(f"benchmarks/{benchmark}: no file is {pattern}")
    here = (name for name in ANSWERED if (ROOT / "benchmarks" / name).exists())
    return lines + [f"benchmarks/{name}: is there, and said to have left" for name in here]


def main() -> bool:
    print("\n".join(found := faults()) or "every file has one entry")
    return bool(found)
