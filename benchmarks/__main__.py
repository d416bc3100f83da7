"""``python -m benchmarks NAME ...``: the benchmarks that consist of many steps.

python -m benchmarks paper --quick
python -m benchmarks mpe --help
"""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "paper": "benchmarks.paper.command",
    "mpe": "benchmarks.mpe.command",
}
"""The module of each benchmark; its ``main`` takes the words after the name."""


def main() -> None:
    """Run the benchmark that is named.

    Raises:
        SystemExit: None is named, or there is none of this name (2).
    """
    name, words = next(iter(sys.argv[1:]), ""), sys.argv[2:]
    if name not in COMMANDS:
        print(f"benchmarks: got {name!r}, expected one of {', '.join(COMMANDS)}", file=sys.stderr)
        sys.exit(2)
    import_module(COMMANDS[name]).main(words)


if __name__ == "__main__":
    main()
