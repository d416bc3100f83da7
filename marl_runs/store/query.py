"""Reading a store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Engine, Row, select
from sqlalchemy.exc import DBAPIError

from marl_common import parse_record, suggest
from marl_runs.store.blobs import Chunk, unpack
from marl_runs.store.engine import DAMAGED, remedy
from marl_runs.store.errors import StoreError
from marl_runs.store.owner import is_gone
from marl_runs.store.records import RunStatus
from marl_runs.store.schema import MetricRow, RunRow, SampleRow

KEY_START = 6
"""Characters of a key, at least, that name a run."""


@dataclass(frozen=True)
class StoredRun:
    """One run as the store keeps it; times are seconds, `started` and `ended` since the epoch."""

    id: int
    key: str
    kind: str
    name: str
    seed: int
    budget: int
    spec: dict[str, Any]
    status: RunStatus
    error: str | None
    result: dict[str, Any] | None
    samples: int
    best_value: float | None
    wall_s: float | None
    cpu_s: float | None
    command: str
    versions: dict[str, str]
    git_revision: str | None
    started: float
    ended: float | None
    attempt: int
    owner: str
    heartbeat: float

    @property
    def standing(self) -> str:
        """The status, with ``killed`` for a running run whose process has ended."""
        gone = self.status is RunStatus.RUNNING and is_gone(self.owner, self.heartbeat)
        return "killed" if gone else str(self.status)


TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "seed", "budget", "samples", "attempt"), (int,)),
    **dict.fromkeys(("key", "kind", "name", "status", "command", "owner"), (str,)),
    **dict.fromkeys(("error", "git_revision"), (str, NoneType)),
    **dict.fromkeys(("spec", "versions"), (dict,)),
    "result": (dict, NoneType),
    **dict.fromkeys(("started", "heartbeat"), (float, int)),
    **dict.fromkeys(("best_value", "wall_s", "cpu_s", "ended"), (float, int, NoneType)),
}
"""Columns of a run, and what a sound row holds in each: SQLite itself does not look."""
LATEST = 253_402_300_799
"""The last second of the year 9999, since the epoch."""
LARGEST: dict[str, float] = {
    **dict.fromkeys(("id", "seed", "budget", "samples", "attempt", "wall_s", "cpu_s"), math.inf),
    **dict.fromkeys(("started", "heartbeat", "ended"), LATEST),
}
"""Columns of counts and times, which are not negative, and their largest values."""


@dataclass(frozen=True)
class DamagedRun:
    """A run whose row cannot be read.

    Args:
        id: Its number.
        name: Its name, as far as there is one.
        why: What is wrong.
    """

    id: int
    name: str
    why: str


class Reader:
    """Queries over the runs of a database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A connection; a damaged file is a :class:`StoreError`."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise StoreError(f"store: {error.orig}{remedy(error)}") from None

    def check_file(self) -> None:
        """Raise unless SQLite finds its file sound; other databases look after themselves.

        Raises:
            StoreError: The file is damaged.
        """
        if self.engine.dialect.name != "sqlite":
            return
        with self._reading() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if found != "ok":
            raise StoreError(f"store: {str(found).splitlines()[0]}{DAMAGED}")

    def runs(
        self, *, kind: str | None = None, status: str | None = None, key: str | None = None
    ) -> list[StoredRun]:
        """Runs in the order they were begun, optionally only those of a kind, status or key.

        Runs whose row is damaged are left out; :meth:`damaged` names them.
        """
        wanted = ((RunRow.kind, kind), (RunRow.status, status), (RunRow.key, key))
        rows = self._rows(*(column == value for column, value in wanted if value is not None))
        return [run for run in rows if isinstance(run, StoredRun)]

    def damaged(self) -> list[DamagedRun]:
        """Runs whose row cannot be read."""
        return [run for run in self._rows() if isinstance(run, DamagedRun)]

    def _rows(self, *conditions: ColumnElement[bool]) -> list[StoredRun | DamagedRun]:
        columns = (getattr(RunRow, name) for name in TYPES)
        query = select(*columns).where(*conditions).order_by(RunRow.id)
        with self._reading() as connection:
            return [_stored(row) for row in connection.execute(query)]

    def run(self, text: str | int) -> StoredRun:
        """One run by its number, or by the beginning of its key (six characters or more).

        Raises:
            StoreError: No run, or more than one, fits, or the run is damaged.
        """
        number = self.number(text)
        (found,) = self._rows(RunRow.id == number)
        if isinstance(found, DamagedRun):
            raise StoreError(
                f"run {number}: its row is damaged ({found.why}); `mapper runs rm {number}` "
                "removes it"
            )
        return found

    def number(self, text: str | int) -> int:
        """The number of a run, sound or damaged, that is named by it or by the start of its key.

        Raises:
            StoreError: No run, or more than one, fits.
        """
        query = select(RunRow.id, RunRow.key)
        with self._reading() as connection:
            keys = {row.id: str(row.key) for row in connection.execute(query)}
        by_number = [number for number in keys if str(number) == str(text)]
        # A mistyped number must never name a run whose key happens to begin like it.
        start = str(text) if len(str(text)) >= KEY_START else None
        by_key = [n for n, key in keys.items() if start is not None and key.startswith(start)]
        found: list[int] = by_number or by_key
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(f"run {text!r}: {len(found)} runs begin like this; give its number")
        raise StoreError(
            f"run {text!r}: not in the store, which holds {len(keys)} run{'s' * (len(keys) != 1)}; "
            f"`mapper runs list` shows them.{suggest(str(text), map(str, keys))}"
        )

    def chunks(self, run_id: int) -> Iterator[Chunk]:
        """The compressed samples of a run, in order."""
        columns = [getattr(SampleRow, name) for name in CHUNK_COLUMNS]
        query = select(*columns).where(SampleRow.run_id == run_id).order_by(SampleRow.start)
        with self._reading() as connection:
            for row in connection.execute(query):
                yield Chunk(*row)

    def samples(self, run_id: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All samples of a run: ``(B, P)`` actions and ``(B,)`` objective values.

        Raises:
            StoreError: Samples are missing or damaged.
        """
        parts = []
        expected = 0
        for chunk in self.chunks(run_id):
            if chunk.start != expected:
                raise StoreError(f"run {run_id}: samples {expected}..{chunk.start - 1} are missing")
            parts.append(unpack(chunk))
            expected += chunk.count
        if not parts:
            return np.empty((0, 0), dtype=np.int64), np.empty(0)
        return np.concatenate([a for a, _ in parts]), np.concatenate([v for _, v in parts])

    def metrics(self, run_id: int, name: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """One metric of a run: ``(M,)`` steps and ``(M,)`` values (nan where not finite)."""
        query = (
            select(MetricRow.step, MetricRow.value)
            .where(MetricRow.run_id == run_id, MetricRow.name == name)
            .order_by(MetricRow.step)
        )
        with self._reading() as connection:
            rows = connection.execute(query).all()
        steps = np.array([row.step for row in rows], dtype=np.int64)
        return steps, np.array([np.nan if row.value is None else row.value for row in rows])

    def metric_names(self, run_id: int) -> list[str]:
        """Names of the metrics of a run, sorted."""
        query = select(MetricRow.name).where(MetricRow.run_id == run_id).distinct()
        with self._reading() as connection:
            return sorted(connection.scalars(query))


CHUNK_COLUMNS = ("start", "count", "width", "dtype", "actions", "objective")


def _stored(row: Row[Any]) -> StoredRun | DamagedRun:
    values = dict(zip(TYPES, row, strict=True))
    wrong = [_wrong(name, values[name]) for name in TYPES if not _fits(name, values[name])]
    if not wrong and values["status"] not in tuple(RunStatus):
        wrong = [f"{_wrong('status', values['status'])}, expected one of {', '.join(RunStatus)}"]
    if wrong:
        return DamagedRun(values["id"], str(values["name"]), "; ".join(wrong))
    values["status"] = RunStatus(values["status"])
    return StoredRun(**values)


def _fits(name: str, value: object) -> bool:
    if not isinstance(value, TYPES[name]) or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return math.isfinite(value) and (name not in LARGEST or 0 <= value <= LARGEST[name])
    return True


def _wrong(name: str, value: object) -> str:
    if isinstance(value, str) and dict in TYPES[name]:
        try:
            parse_record(value, name, StoreError)
        except StoreError as error:
            return str(error)
    text = repr(value)
    return f"{name} is {text if len(text) <= 40 else text[:37] + '...'}"
