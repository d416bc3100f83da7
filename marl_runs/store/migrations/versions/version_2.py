"""Version 2: tables are called after runs, whatever ran; names may be of any length."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

TABLES = {
    "mapper_runs": "runs",
    "mapper_samples": "runs_samples",
    "mapper_metrics": "runs_metrics",
}


def upgrade() -> None:
    """Rename the tables and their indices; ``mapper_meta`` stays, see :class:`MetaRow`."""
    for name in ("kind", "status"):
        op.drop_index(f"ix_mapper_runs_{name}", "mapper_runs")
    for old, new in TABLES.items():
        op.rename_table(old, new)
    for name in ("kind", "status"):
        op.create_index(f"ix_runs_{name}", "runs", [name])
    if op.get_bind().dialect.name != "sqlite":  # which keeps no length of a text
        op.alter_column("runs", "name", type_=sa.Text(), existing_nullable=False)
    op.execute("UPDATE mapper_meta SET value = '2' WHERE name = 'schema_version'")
