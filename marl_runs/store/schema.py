"""Tables of the store."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA_VERSION = 3
"""Raised by every change of the tables below, with a script in ``migrations/versions``."""


class Base(DeclarativeBase):
    """Base of the store's tables."""


class MetaRow(Base):
    """The schema version once more, for programs of version 1.

    The name and the row ``schema_version`` are those of version 1, so that such a
    program says that it cannot read a newer store, instead of making tables of its own in it.
    """

    __tablename__ = "mapper_meta"
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(200))


class VersionRow(Base):
    """The schema version, in the table in which Alembic keeps it."""

    __tablename__ = "runs_version"
    version_num: Mapped[str] = mapped_column(String(32), primary_key=True)


class RunRow(Base):
    """One experiment with one budget and one seed, and how it went (its manifest)."""

    __tablename__ = "runs"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (a removed number stays unused)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    key: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(40), index=True)
    name: Mapped[str] = mapped_column(Text)
    seed: Mapped[int] = mapped_column(BigInteger)
    budget: Mapped[int] = mapped_column(BigInteger)
    spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    status: Mapped[str] = mapped_column(String(20), index=True)
    error: Mapped[str | None] = mapped_column(Text)
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    samples: Mapped[int] = mapped_column(BigInteger, default=0)
    best_value: Mapped[float | None]
    wall_s: Mapped[float | None]
    cpu_s: Mapped[float | None]
    command: Mapped[str] = mapped_column(Text)
    versions: Mapped[dict[str, str]] = mapped_column(JSON)
    git_revision: Mapped[str | None] = mapped_column(String(60))
    created: Mapped[float]
    started: Mapped[float]
    ended: Mapped[float | None]
    attempt: Mapped[int] = mapped_column(default=1)
    owner: Mapped[str] = mapped_column(String(200))
    heartbeat: Mapped[float]


class SampleRow(Base):
    """A chunk of consecutive samples of a run: actions and objective values, compressed."""

    __tablename__ = "runs_samples"
    __table_args__ = (UniqueConstraint("run_id", "start"),)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    start: Mapped[int] = mapped_column(BigInteger)
    count: Mapped[int]
    width: Mapped[int]
    dtype: Mapped[str] = mapped_column(String(8))
    actions: Mapped[bytes] = mapped_column(LargeBinary)
    objective: Mapped[bytes] = mapped_column(LargeBinary)


class MetricRow(Base):
    """One figure of a run at one step, such as the mean reward of an episode."""

    __tablename__ = "runs_metrics"
    __table_args__ = (UniqueConstraint("run_id", "name", "step"),)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(80))
    step: Mapped[int] = mapped_column(BigInteger)
    value: Mapped[float | None]
