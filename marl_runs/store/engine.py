"""Opening a store: a path or a database URL to an engine with the right tables in it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from marl_common import parse_record
from marl_runs.store.errors import StoreError
from marl_runs.store.versions import bring_up_to_date

BUSY_TIMEOUT_S = 60.0
"""How long a writer waits for another one before it gives up [s]."""
MEMORY = ":memory:"


def open_engine(location: str, *, create: bool) -> Engine:
    """Connect to a store and check its tables.

    Args:
        location: Path of an SQLite file, ``:memory:``, or a URL such as ``postgresql://...``.
        create: Whether a store that does not exist is made; else it is an error.

    Raises:
        StoreError: The store does not exist, is not a store, has another schema version, or its
            database driver is not installed.
    """
    path = sqlite_path(location)
    if path is not None:
        _check_file(path, create)
    try:
        reading = path is not None and not create and not _writable(path)
        engine = _make_engine(location, path, reading=reading)
        bring_up_to_date(engine, _shown(location), create=create, writable=not reading)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"store {_shown(location)!r}: {error}; expected a file path or a database URL, with "
            "its driver installed"
        ) from None
    except DBAPIError as error:
        raise StoreError(f"store {_shown(location)!r}: {error.orig}{remedy(error)}") from None
    return engine


def sqlite_path(location: str) -> Path | None:
    """The file of an SQLite store; None for other databases and ``:memory:``."""
    if location == MEMORY:
        return None
    if "://" not in location:
        return Path(location)
    url = make_url(location) if location.startswith("sqlite:") else None
    return Path(url.database) if url is not None and url.database not in (None, MEMORY) else None


def _writable(path: Path) -> bool:
    """Whether SQLite can write a file and the log that it keeps beside it."""
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _make_engine(location: str, path: Path | None, *, reading: bool = False) -> Engine:
    """Connect; a file on a read-only place is opened to read, as of its last checkpoint."""
    if reading and path is not None:
        query = {"mode": "ro", "immutable": "1", "uri": "true"}
        return _engine(URL.create("sqlite", database=path.absolute().as_uri(), query=query))
    if location == MEMORY:
        engine = _engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
    elif path is not None:
        engine = _engine(
            URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY_TIMEOUT_S}
        )
    else:
        engine = _engine(location, pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _engine(url: str | URL, **options: Any) -> Engine:
    engine = create_engine(url, json_deserializer=_readable_json, **options)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _read_any_text)
    return engine


def _read_any_text(connection: sqlite3.Connection, _record: Any) -> None:
    """Read bytes that are no UTF-8 as marks, so that one bad row does not hide the others."""
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")


def _readable_json(text: str) -> Any:
    """A JSON value; damaged text stays text, so that one bad row does not hide the others.

    Damaged is text that is no JSON, names a member twice, or is nested too deeply.
    """
    try:
        return parse_record(text, "value", StoreError)
    except (ValueError, TypeError):
        return text


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # The driver's own transaction handling begins late, which lets two writers deadlock: switch it
    # off and begin by hand below (SQLAlchemy's manual, "Serializable isolation, savepoints ...").
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _check_file(path: Path, create: bool) -> None:
    if path.is_dir():
        raise StoreError(f"store '{path}': is a folder, expected a file such as runs.sqlite")
    if path.exists():
        with path.open("rb") as file:
            head = file.read(16)
        if head and head != b"SQLite format 3\x00":
            raise StoreError(f"store '{path}': is not an SQLite file; give another --store")
    elif not create:
        raise StoreError(f"store '{path}': there is no such file; give --store PATH or a URL")
    elif not path.absolute().parent.is_dir():
        raise StoreError(f"store '{path}': the folder {path.parent} does not exist; make it first")


DAMAGED = (
    "; the file is damaged: take another --store, or save what is left with `sqlite3 FILE .recover`"
)


def remedy(error: DBAPIError) -> str:
    """What to do about an error of the database, where that is known."""
    text = str(error.orig)
    if "malformed" in text or "not a database" in text:
        return DAMAGED
    if "readonly" in text or "unable to open" in text:
        return "; the file and its folder must be writable"
    return ""


def _shown(location: str) -> str:
    """The location without a password."""
    if "://" not in location:
        return location
    try:
        return make_url(location).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        return location
