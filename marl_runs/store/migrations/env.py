"""What Alembic runs: the migrations of a store, inside the transaction that opened it."""

from __future__ import annotations

from alembic import context

from marl_runs.store.schema import Base, VersionRow

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VersionRow.__tablename__,
)
with context.begin_transaction():
    context.run_migrations()
