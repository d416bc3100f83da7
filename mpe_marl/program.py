"""The program ``mpe-marl``. Its options are those of settings that need the extra ``mpe``.

Without that extra it says its version, and of all else what to install.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec


def main(words: Sequence[str] | None = None) -> None:
    """Run a command of the program; exit code 2 where the extra is missing."""
    given = sys.argv[1:] if words is None else list(words)
    if find_spec("numba") is not None:
        from mpe_marl.cli import main as run

        run(given)
    elif given == ["--version"]:
        print(f"mpe-marl {version('marl-mapper')}")
    else:
        print(
            "error: No module named 'numba'; install it with: pip install 'marl-mapper[mpe]'",
            file=sys.stderr,
        )
        sys.exit(2)
