"""Reading a store."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, Row, select

from runs.store.blobs import Chunk, unpack
from runs.store.errors import StoreError
from runs.store.owner import is_gone
from runs.store.records import RunStatus
from runs.store.schema import MetricRow, RunRow, SampleRow


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


COLUMNS = tuple(item.name for item in fields(StoredRun))


class Reader:
    """Queries over the runs of a database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def runs(
        self, *, kind: str | None = None, status: str | None = None, key: str | None = None
    ) -> list[StoredRun]:
        """Runs in the order they were begun, optionally only those of a kind, status or key."""
        query = select(*(getattr(RunRow, name) for name in COLUMNS)).order_by(RunRow.id)
        for column, value in ((RunRow.kind, kind), (RunRow.status, status), (RunRow.key, key)):
            if value is not None:
                query = query.where(column == value)
        with self.engine.connect() as connection:
            return [_stored(row) for row in connection.execute(query)]

    def run(self, text: str | int) -> StoredRun:
        """One run by its number, or by the beginning of its key.

        Raises:
            StoreError: No run, or more than one, fits.
        """
        runs = self.runs()
        by_number = [run for run in runs if str(run.id) == str(text)]
        found = by_number or [run for run in runs if run.key.startswith(str(text))]
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(f"run {text!r}: {len(found)} runs begin like this; give its number")
        near = difflib.get_close_matches(str(text), [str(run.id) for run in runs], n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise StoreError(
            f"run {text!r}: not in the store, which holds {len(runs)} run{'s' * (len(runs) != 1)}; "
            f"`mapper runs list` shows them.{hint}"
        )

    def chunks(self, run_id: int) -> Iterator[Chunk]:
        """The compressed samples of a run, in order."""
        columns = [getattr(SampleRow, name) for name in _CHUNK_COLUMNS]
        query = select(*columns).where(SampleRow.run_id == run_id).order_by(SampleRow.start)
        with self.engine.connect() as connection:
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
        with self.engine.connect() as connection:
            rows = connection.execute(query).all()
        steps = np.array([row.step for row in rows], dtype=np.int64)
        return steps, np.array([np.nan if row.value is None else row.value for row in rows])

    def metric_names(self, run_id: int) -> list[str]:
        """Names of the metrics of a run, sorted."""
        query = select(MetricRow.name).where(MetricRow.run_id == run_id).distinct()
        with self.engine.connect() as connection:
            return sorted(connection.scalars(query))

    def size_bytes(self) -> int | None:
        """Size of an SQLite store's file [B]; None for other databases."""
        database = self.engine.url.database
        if self.engine.dialect.name != "sqlite" or not database:
            return None
        return os.path.getsize(database)


_CHUNK_COLUMNS = ("start", "count", "width", "dtype", "actions", "objective")


def _stored(row: Row[Any]) -> StoredRun:
    values = dict(zip(COLUMNS, row, strict=True))
    values["status"] = RunStatus(values["status"])
    return StoredRun(**values)
