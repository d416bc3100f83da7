"""The schema version of a store: made, checked, and brought up to date by Alembic."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from marl_runs.store.errors import StoreError
from marl_runs.store.schema import SCHEMA_VERSION, Base, MetaRow, VersionRow

MIGRATIONS = Path(__file__).with_name("migrations")
BEFORE_ALEMBIC = "1"


def bring_up_to_date(engine: Engine, shown: str, *, create: bool, writable: bool) -> None:
    """Make the tables of a new store, or move an older one to this version.

    Args:
        engine: The database.
        shown: What messages call the store.
        create: Whether tables are made where there are none.
        writable: Whether the store may be changed.

    Raises:
        StoreError: It holds no runs and none may be made, is of a newer version, or is of an older
            one and cannot be changed.
    """
    with engine.connect() as connection:
        found = _version(connection)
    if found is None:
        if not create:
            raise StoreError(f"store {shown!r}: holds no runs; give another --store")
        _create(engine)
    elif found != str(SCHEMA_VERSION):
        _check_older(engine, shown, found)
        if not writable:
            raise StoreError(
                f"store {shown!r}: has schema version {found} and cannot be written to, so it "
                f"cannot be brought to version {SCHEMA_VERSION}; copy it to a place where it can"
            )
        _migrate(engine)


def _version(connection: Connection) -> str | None:
    """The store's version; None where the database holds no store."""
    tables = set(inspect(connection).get_table_names())
    if VersionRow.__tablename__ in tables:
        return connection.scalar(select(VersionRow.version_num))
    if MetaRow.__tablename__ in tables:
        return connection.scalar(select(MetaRow.value).where(MetaRow.name == "schema_version"))
    return None


def _create(engine: Engine) -> None:
    """Make the tables in one transaction; another process may be doing the same."""
    try:
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            if _version(connection) is None:
                Base.metadata.create_all(connection)
                version = str(SCHEMA_VERSION)
                connection.execute(insert(VersionRow).values(version_num=version))
                connection.execute(insert(MetaRow).values(name="schema_version", value=version))
    except IntegrityError:
        pass  # the other process was faster


def _check_older(engine: Engine, shown: str, found: str) -> None:
    """Refuse a version that no script starts from, saying which program wrote it."""
    if found.isdecimal() and int(BEFORE_ALEMBIC) <= int(found) < SCHEMA_VERSION:
        return
    raise StoreError(
        f"store {shown!r}: has schema version {found}{_writer(engine)}; this program reads "
        f"{BEFORE_ALEMBIC} to {SCHEMA_VERSION}. Use another --store, or the program that wrote it"
    )


def _writer(engine: Engine) -> str:
    """Which program wrote the latest run, if its row is still to be understood."""
    try:
        with engine.connect() as connection:
            latest = text("SELECT versions FROM runs ORDER BY id DESC LIMIT 1")
            versions = connection.scalar(latest)
        known = json.loads(versions) if isinstance(versions, str) else dict(versions)
        return f", written by marl-mapper {known['marl-mapper']}"
    except (DBAPIError, ValueError, TypeError, KeyError):
        return ""


def _migrate(engine: Engine) -> None:
    """Run the scripts in one transaction; whoever comes second finds nothing to do."""
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if _version(connection) == str(SCHEMA_VERSION):
            return
        if VersionRow.__tablename__ not in inspect(connection).get_table_names():
            options = {"version_table": VersionRow.__tablename__}
            context = MigrationContext.configure(connection, opts=options)
            context.stamp(ScriptDirectory.from_config(config), BEFORE_ALEMBIC)
        config.attributes["connection"] = connection
        command.upgrade(config, str(SCHEMA_VERSION))
