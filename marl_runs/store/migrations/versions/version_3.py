"""Version 3: sampling laws of particle worlds are called after what the paper prints.

What was ``neighbor`` took the end's transition in place of one outside the store and is called
``neighbor-clip`` now; ``neighbor-skip`` is the paper's first version, ``neighbor``.
"""

import hashlib
import json
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

LAWS = {  # in this order: no new name is another run's old one
    "neighbor": "neighbor-clip",
    "shared-neighbor": "shared-neighbor-clip",
    "neighbor-skip": "neighbor",
}
RUNS = sa.table(
    "runs",
    *(sa.column(name) for name in ("id", "key", "kind", "name", "seed", "budget")),
    sa.column("spec", sa.JSON),
)


def upgrade() -> None:
    """Rename laws in the definitions of runs, and what follows from these: keys, names, folders."""
    connection = op.get_bind()
    training = sa.select(RUNS).where(RUNS.c.kind == "mpe")
    for old, new in LAWS.items():
        for run in connection.execute(training).all():
            config = run.spec.get("config") if isinstance(run.spec, dict) else None
            if isinstance(config, dict) and config.get("law") == old:
                spec = {**run.spec, "config": {**config, "law": new}}
                text = json.dumps([run.kind, spec, run.seed, run.budget], sort_keys=True)
                key = hashlib.sha256(text.encode()).hexdigest()
                name = run.name.replace(f" {old}-", f" {new}-", 1)
                changed = sa.update(RUNS).where(RUNS.c.id == run.id)
                connection.execute(changed.values(key=key, name=name, spec=spec))
                _move_folder(connection.engine.url, run.key, key)
    op.execute("UPDATE mapper_meta SET value = '3' WHERE name = 'schema_version'")


def _move_folder(url: sa.URL, old: str, new: str) -> None:
    """Move a run's folder, which is called after the first 16 letters of its key."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return
    path = Path(url.database)
    folder = path.with_name(path.name + ".files") / old[:16]
    if folder.is_dir():
        folder.rename(folder.with_name(new[:16]))
