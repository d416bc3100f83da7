"""A table as a file, which docs/mpe.md and docs/paper.md quote."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marl_common import atomic_write


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], digits: int = 5) -> None:
    """Write rows of the same columns; a fraction keeps so many digits that count."""
    with atomic_write(path) as draft, draft.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: _shown(v, digits) for k, v in row.items()})


def _shown(value: Any, digits: int) -> Any:
    return f"{value:.{digits}g}" if isinstance(value, float) and abs(value) < 1e5 else value
