"""The store: every run with its manifest, samples and metrics; several processes may write."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Update, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from marl_runs.json_values import number, plain
from marl_runs.provenance import made_with
from marl_runs.store.blobs import Chunk
from marl_runs.store.engine import open_engine, sqlite_path
from marl_runs.store.errors import ClaimLostError
from marl_runs.store.owner import is_gone, new_owner, retire
from marl_runs.store.query import CHUNK_COLUMNS
from marl_runs.store.records import Claim, ClaimState, Ending, RunIdentity, RunStatus, folder_name
from marl_runs.store.schema import MetricRow, RunRow, SampleRow
from marl_runs.store.writer import Writer


class Store(Writer):
    """Runs in a database; one `Store` belongs to one process.

    Open it with :meth:`open`. A run is claimed before it is done, so that two processes never do
    the same one; every later write checks that the claim still holds.
    """

    def __init__(self, location: str, *, create: bool = True) -> None:
        super().__init__(open_engine(location, create=create))
        self.location = location
        self.owner = new_owner()

    @classmethod
    def open(cls, location: str | Path = ":memory:", *, create: bool = True) -> Store:
        """Open or make a store.

        Args:
            location: Path of an SQLite file, ``:memory:``, or any SQLAlchemy database URL.
            create: Whether a missing store is made.

        Raises:
            StoreError: It cannot be opened, or has another schema version.
        """
        return cls(str(location), create=create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back, and any claims that are left."""
        retire(self.owner)
        self.engine.dispose()

    def let_go(self) -> None:
        """Give up every claim, though nothing can be written: others may have these runs."""
        retire(self.owner)
        self.owner = new_owner()

    @property
    def files(self) -> Path:
        """Where the runs have their folders; it is not made here."""
        path = sqlite_path(self.location)
        return Path("runs.files") if path is None else path.with_name(path.name + ".files")

    def folder(self, key: str) -> Path:
        """Where a run may keep files of its own, such as checkpoints; it is not made here."""
        return self.files / folder_name(key)

    def claim(self, run: RunIdentity, *, keep_metrics: bool = False) -> Claim:
        """Claim a run.

        A run that is new, failed, was interrupted, or whose process has ended is given to this
        process, its samples cleared. Only a finished one is never given again.

        Args:
            run: The run.
            keep_metrics: Keep the metrics of an earlier attempt (for experiments that continue).
        """
        try:
            return self.write(lambda connection: self._claim(connection, run, keep_metrics))
        except IntegrityError:  # another process made the same run at the same moment
            return self.write(lambda connection: self._claim(connection, run, keep_metrics))

    def _claim(self, connection: Connection, run: RunIdentity, keep_metrics: bool) -> Claim:
        found = connection.execute(
            select(RunRow.id, RunRow.status, RunRow.owner, RunRow.heartbeat, RunRow.attempt)
            .where(RunRow.key == run.key)
            .with_for_update()
        ).first()
        now = time.time()
        if found is None:
            unlike = self._unlike(connection, run)
            made = connection.execute(
                insert(RunRow).values(created=now, attempt=1, **vars(run), **self._opening(now))
            )
            assert made.inserted_primary_key is not None
            return Claim(ClaimState.CLAIMED, int(made.inserted_primary_key[0]), unlike=unlike)
        if found.status == RunStatus.FINISHED:
            return Claim(ClaimState.FINISHED, found.id, found.attempt)
        if found.status == RunStatus.RUNNING and not is_gone(found.owner, found.heartbeat):
            return Claim(ClaimState.BUSY, found.id, found.attempt)
        attempt = found.attempt + 1
        self._clear(connection, found.id, keep_metrics)
        connection.execute(
            update(RunRow)
            .where(RunRow.id == found.id)
            .values(attempt=attempt, **vars(run), **self._opening(now))
        )
        return Claim(ClaimState.CLAIMED, found.id, attempt)

    @staticmethod
    def _unlike(connection: Connection, run: RunIdentity) -> str:
        """What there is to say of an interrupted run that goes by the same name."""
        same = (RunRow.kind == run.kind, RunRow.name == run.name, RunRow.seed == run.seed)
        found = connection.execute(
            select(RunRow.id, RunRow.versions, RunRow.git_revision)
            .where(*same, RunRow.status == RunStatus.INTERRUPTED)
            .order_by(RunRow.id.desc())
        ).first()
        if found is None:
            return ""
        version = (found.versions or {}).get("marl-mapper", "of unknown version")
        revision = f" ({found.git_revision})" if found.git_revision else ""
        return (
            f"run {found.id}, {run.name}, was interrupted under other options or defaults, by "
            f"marl-mapper {version}{revision}: it stays as it is, and a new one begins"
        )

    def _opening(self, now: float) -> dict[str, Any]:
        """Columns of a run that begins now."""
        made = made_with()
        return {
            "status": RunStatus.RUNNING,
            "owner": self.owner,
            "heartbeat": now,
            "started": now,
            "samples": 0,
            **dict.fromkeys(("ended", "error", "result", "best_value", "wall_s", "cpu_s")),
            **vars(made),
        }

    @staticmethod
    def _clear(connection: Connection, run_id: int, keep_metrics: bool) -> None:
        connection.execute(delete(SampleRow).where(SampleRow.run_id == run_id))
        if not keep_metrics:
            connection.execute(delete(MetricRow).where(MetricRow.run_id == run_id))

    def _write_to(self, run_id: int, action: Callable[[Connection, Update], object]) -> None:
        """Change a run that is claimed here: `action` gets an update of its row to begin with."""

        def write(connection: Connection) -> None:
            self._check_owner(connection, run_id)
            action(connection, update(RunRow).where(RunRow.id == run_id))

        self.write(write)

    def restart(self, run_id: int, *, keep_metrics: bool = False) -> None:
        """Begin a claimed run anew after its worker was lost: nothing is counted twice."""

        def write(connection: Connection, row: Update) -> None:
            self._clear(connection, run_id, keep_metrics)
            connection.execute(row.values(attempt=RunRow.attempt + 1, samples=0, best_value=None))

        self._write_to(run_id, write)

    def append(self, run_id: int, chunk: Chunk) -> None:
        """Add samples to a claimed run."""

        def write(connection: Connection, row: Update) -> None:
            columns = {name: getattr(chunk, name) for name in CHUNK_COLUMNS}
            connection.execute(insert(SampleRow).values(run_id=run_id, **columns))
            connection.execute(row.values(samples=RunRow.samples + chunk.count))
            if chunk.best is not None:
                worse = or_(RunRow.best_value.is_(None), RunRow.best_value > chunk.best)
                connection.execute(row.where(worse).values(best_value=chunk.best))

        self._write_to(run_id, write)

    def add_metrics(self, run_id: int, rows: Sequence[tuple[str, int, float]]) -> None:
        """Add metrics ``(name, step, value)``; a repeated step replaces the older value."""

        def write(connection: Connection, _row: Update) -> None:
            latest = {(name, step): value for name, step, value in rows}
            for name, step in latest:
                connection.execute(
                    delete(MetricRow).where(
                        MetricRow.run_id == run_id, MetricRow.name == name, MetricRow.step == step
                    )
                )
            connection.execute(
                insert(MetricRow),
                [
                    {"run_id": run_id, "name": name, "step": step, "value": number(value)}
                    for (name, step), value in latest.items()
                ],
            )

        if rows:
            self._write_to(run_id, write)

    def rewind(self, run_id: int, step: int) -> None:
        """Drop the metrics after `step`: the run continues from a checkpoint taken there."""
        later = delete(MetricRow).where(MetricRow.run_id == run_id, MetricRow.step > step)
        self._write_to(run_id, lambda connection, _: connection.execute(later))

    def end(self, run_id: int, ending: Ending) -> None:
        """Close a claimed run."""
        columns = vars(ending) | {
            "ended": time.time(),
            "best_value": number(ending.best_value),
            "result": None if ending.result is None else plain(ending.result),
        }
        self._write_to(run_id, lambda connection, row: connection.execute(row.values(columns)))

    def beat(self) -> None:
        """Tell other machines that the runs of this process are still being worked on."""
        own = (RunRow.owner == self.owner, RunRow.status == RunStatus.RUNNING)
        beat = update(RunRow).where(*own).values(heartbeat=time.time())
        self.write(lambda connection: connection.execute(beat))

    def remove(self, run_ids: Sequence[int]) -> int:
        """Delete runs with all they recorded and left; returns how many were there."""
        chosen = RunRow.id.in_(run_ids)

        def write(connection: Connection) -> list[str]:
            keys = list(connection.scalars(select(RunRow.key).where(chosen)))
            for run_id in run_ids:
                self._clear(connection, run_id, keep_metrics=False)
            connection.execute(delete(RunRow).where(chosen))
            return keys

        keys = self.write(write)
        for key in keys:
            shutil.rmtree(self.folder(key), ignore_errors=True)
        return len(keys)

    def _check_owner(self, connection: Connection, run_id: int) -> None:
        row = connection.execute(
            select(RunRow.owner, RunRow.status).where(RunRow.id == run_id).with_for_update()
        ).first()
        if row is None or row.owner != self.owner or row.status != RunStatus.RUNNING:
            raise ClaimLostError(f"run {run_id}: another process took it over or removed it")
