"""How much of the papers' experiments is run, and where it is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mpe.tables import write_table
from common import atomic_write


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
        hours: No training of 12 agents or more begins after so much time [h].
    """

    agents: tuple[int, ...] = (3, 6, 12, 24, 48)
    rows: int = 20_000
    repeats: int = 5
    compared: tuple[int, ...] = (3, 6, 12)
    compared_rows: int = 100_000
    rounds: int = 5
    trained: tuple[int, ...] = (3, 6, 12)
    seeds: int = 3
    episodes: int = 60_000
    batch: int = 1024
    hours: float = 3.0


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


@dataclass(frozen=True)
class Places:
    """Folders.

    Args:
        runs: Of what is measured, a file each.
        data: Of tables.
        figures: Of pictures.
    """

    runs: Path
    data: Path
    figures: Path

    def kept(self, name: str, measure: Callable[[], Any]) -> Any:
        """What a JSON file of the runs holds; measured and written where there is none."""
        path = self.runs / f"{name}.json"
        if not path.exists():
            found = measure()
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as draft:
                draft.write_text(json.dumps(found), encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows to a CSV file, whole or not at all; fractions have five digits."""
        self.data.mkdir(parents=True, exist_ok=True)
        write_table(self.data / name, [{k: _told(v) for k, v in row.items()} for row in rows])


def _told(value: Any) -> Any:
    """A value, or nothing where it is not finite."""
    return "" if isinstance(value, float) and not math.isfinite(value) else value
