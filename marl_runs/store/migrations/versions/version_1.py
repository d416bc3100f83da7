"""Version 1: stores from before Alembic, whose version stood in their table ``mapper_meta``."""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Nothing to do: such a store has its tables."""
