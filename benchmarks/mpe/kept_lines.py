"""Finished steps of a benchmark as a file of lines, and how much of the papers' is run."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.frame import Row, rounded, write
from benchmarks.network_proofs import children_s

Effort = TypeVar("Effort", bound=Any)


def at_least(least: float, kind: type[float] = int) -> Callable[[str], float]:
    """Reads a number from so much on, as an option says it."""

    def read(text: str) -> float:
        number = kind(text)
        if not number >= least:
            raise argparse.ArgumentTypeError(f"got {text}, expected at least {least}")
        return number

    return read


def step_options(steps: Iterable[str]) -> Row:
    """The options of a benchmark of several steps whose finished parts are lines of a file."""
    return {
        "quick": (False, "every step with little"),
        "only": ([str], "some of them", list(steps)),
        "runs": (Path, "file of what is finished"),
        "data": (Path, "folder of tables"),
        "figures": (Path, "folder of pictures"),
        "minutes": (at_least(0, float), "nothing begins after them; 0: only tables"),
    }


def effort_of(given: argparse.Namespace, quick: Effort, full: Effort) -> Effort:
    """How much is done: little or all, but for the fields that options name."""
    said = {field.name: getattr(given, field.name, None) for field in fields(full)}
    told = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return replace(
        quick if given.quick else full, **{k: v for k, v in told.items() if v not in (None, ())}
    )


def end_of(minutes: float | None) -> float:
    """The moment of ``time.monotonic()`` at which so many minutes are over."""
    return math.inf if minutes is None else time.monotonic() + 60.0 * minutes


class KeptLines:
    """A JSON object a line, each a finished step; a step that was cut off leaves none.

    Args:
        path: The file; made with the first step.
        key: What tells one step from another.

    Raises:
        ValueError: A line but the last is no JSON object with the key.
    """

    def __init__(self, path: Path, key: str = "key") -> None:
        self.path, self.key = path, key
        self._rows: dict[str, Row] = {}
        self._whole = 0
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for number, line in enumerate(lines, 1):
            if number == len(lines) and not line.endswith(b"\n"):
                break  # cut off while it was written: the next step takes its place
            self._read(number, line)
            self._whole += len(line)

    def _read(self, number: int, line: bytes) -> None:
        try:
            row = json.loads(line)
            self._rows.setdefault(row[self.key], row)
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{self.path}, line {number}: expected a JSON object with {self.key!r}; "
                "remove the line, and its step runs again"
            ) from None

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Row:
        return self._rows[key]

    def add(self, row: Row) -> None:
        """Keep a finished step; it is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        with self.path.open("ab") as stream:
            stream.truncate(self._whole)
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self._whole += len(line)
        self._rows[row[self.key]] = row


@dataclass(frozen=True)
class MpeEffort:
    """How much is measured and trained.

    Args:
        agents: Sizes of the profiles (Fig. 2 to 4).
        device: Where networks are in the profiles; a GPU's have tables of their own.
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
    device: str = "cpu"
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
        told = (rounded(row, 5) for row in rows)
        write(
            self.data / name,
            rows[0],
            ({k: "" if v in ("nan", "inf") else v for k, v in row.items()} for row in told),
        )
