"""Stores that are not there or damaged, certificates, and the training of policies."""

from tests.hostile.rows import Row, table

NO_STORE = "there is no such file; give --store"

COMMANDS = {
    "mapper": {
        "pretrain": "Missing option '--out'",
        "pretrain --out a.txt": "expected a name ending in .safetensors",
        "pretrain --out /proc/x/a.safetensors": "cannot write to /proc/x",
        "runs rm 1": NO_STORE,
        "runs list --store 'a?b.sqlite'": NO_STORE,
    },
    "mpe-marl": {
        "watch 1": "Missing option '--gif'",
        "watch 1 --gif /proc/x/g.gif": "cannot write to /proc/x",
        "export 1 -o /proc/x/p.safetensors": "cannot write to /proc/x",
    },
}
ROWS = [
    *table(COMMANDS),
    Row("mapper validate 1 --store x.db", "x.db", {"x.db": "SQLite format 3"}),
    Row("mpe-marl export 1 --store x.db", "x.db", {"x.db": b"\x00" * 100}),
]
