"""How much of the papers' experiments is run, and where it is kept."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import Row, rounded, write
from benchmarks.mpe.kept_lines import KeptLines
from benchmarks.network_proofs import children_s


@dataclass(frozen=True)
class MpeEffort:
    """How much is measured and trained.

    Args:
        agents: Sizes of the profiles (Fig. 2 to 4).
        rows: Transitions of a profile's store.
        repeats: Cycles of a profile.
        compared: Sizes at which neighbor sampling is compared (Fig. 5).
        compared_rows: Transitions there.
        rounds: Processes of each variant, in turn.
        trained: Sizes of the training runs (Fig. 6).
        seeds: Seeds of a training run.
        episodes: Episodes of a training run.
        batch: Transitions of a mini-batch in training.
    """

    agents: tuple[int, ...] = (3, 6, 12, 24, 48)
    rows: int = 20_000
    repeats: int = 3
    compared: tuple[int, ...] = (3, 6, 12)
    compared_rows: int = 100_000
    rounds: int = 5
    trained: tuple[int, ...] = (3, 6, 12)
    seeds: int = 3
    episodes: int = 60_000
    batch: int = 1024


FULL = MpeEffort()
QUICK = MpeEffort(
    agents=(3, 6),
    rows=2_000,
    repeats=1,
    compared=(3,),
    compared_rows=2_000,
    rounds=2,
    trained=(3,),
    seeds=1,
    episodes=60,
    batch=64,
)


class Places:
    """What is finished, and folders.

    Args:
        runs: File of what is finished, a line each.
        unfinished: Store of training runs under way.
        data: Folder of tables.
        figures: Folder of pictures.
        until: No measurement or training begins after this moment of ``time.monotonic()``.

    Raises:
        ValueError: The file holds something else.
    """

    def __init__(
        self, runs: Path, unfinished: Path, data: Path, figures: Path, until: float = math.inf
    ) -> None:
        self._lines = KeptLines(runs)
        self.unfinished, self.data, self.figures, self.until = unfinished, data, figures, until

    def kept(self, name: str, measure: Callable[[], Mapping[str, Any]]) -> Row | None:
        """What is kept by a name; measured and kept where there is none and there is time."""
        if name not in self._lines:
            if time.monotonic() > self.until:
                print(f"left: {name}", file=sys.stderr, flush=True)
                return None
            begun = time.process_time() + children_s()
            found = measure()
            spent = time.process_time() + children_s() - begun
            self._lines.add({"key": name, "cpu_s": round(spent, 1), "found": found})
            print(f"{name}: {spent:.0f} s", file=sys.stderr, flush=True)
        return dict(self._lines[name]["found"])

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows to a CSV file, whole or not at all; fractions have five digits."""
        finite = ({k: _told(v) for k, v in row.items()} for row in rows)
        write(self.data / name, rows[0], (rounded(row, 5) for row in finite))


def _told(value: Any) -> Any:
    """A value, or nothing where it is not finite."""
    return "" if isinstance(value, float) and not math.isfinite(value) else value
