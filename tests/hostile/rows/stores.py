"""Stores that are not there or damaged, certificates, and the training of policies."""

from tests.hostile.rows import Row

NO_STORE = "there is no such file; give --store"
PRETRAIN = "mapper pretrain --out a.safetensors"

ROWS = [
    Row("mapper pretrain", "Missing option '--out'"),
    Row("mapper pretrain --out a.txt", "expected a name ending in .safetensors"),
    Row("mapper pretrain --out /proc/x/a.safetensors", "cannot write to /proc/x"),
    *(
        Row(f"{PRETRAIN} {words}", says)
        for words, says in [
            ("--cpu-minutes 0", "got 0.0, expected a number above 0"),
            ("--cpu-minutes nan", "got nan"),
            ("--cpu-minutes inf", "got inf"),
            ("--cpu-minutes 1e300", "at most 1,000,000"),
            ("--seed -1", "--seed: got '-1'"),
            ("--seed 1000000000000000000000000", "--seed: got '1000"),
            ("--workers 1000000", "--workers: got '1000000'"),
            ("--cost-model exakt", "Did you mean 'exact'"),
        ]
    ),
    Row("mapper accelerators nope", "'nope' is not known"),
    Row("mapper validate --certificate nowhere.npz", "not found; expected a certificate"),
    Row("mapper validate --certificate .", "damaged or no certificate"),
    Row(
        "mapper validate --certificate c.npz",
        "damaged or no certificate",
        files={"c.npz": b"PK\x03\x04" + bytes(60)},
    ),
    Row("mapper validate 1 --store x.db", "x.db", files={"x.db": "SQLite format 3"}),
    Row("mapper runs rm", "Missing argument"),
    Row("mapper runs rm 1", NO_STORE),
    Row("mapper runs rm 1 --yes", NO_STORE),
    Row("mapper runs show 1", NO_STORE),
    Row("mapper runs list --store nowhere.sqlite", NO_STORE),
    Row("mapper runs list --store 'a?b.sqlite'", NO_STORE),
    Row("mapper runs list --store exp%201.sqlite", NO_STORE),
    Row("mapper report --store .", "is a folder"),
    Row("mpe-marl evaluate 1 --seed -1", "--seed: got '-1'"),
    Row("mpe-marl evaluate 1 --store .", "is a folder"),
    Row("mpe-marl watch 1", "Missing option '--gif'"),
    Row("mpe-marl watch 1 --gif g.gif --episodes 1000", "--episodes: got '1000'"),
    Row("mpe-marl watch 1 --gif /proc/x/g.gif", "cannot write to /proc/x"),
    Row("mpe-marl export 1 -o /proc/x/p.safetensors", "cannot write to /proc/x"),
    Row("mpe-marl export 1 --store x.db", "x.db", files={"x.db": b"\x00" * 100}),
    Row("mpe-marl plot x.db", "expected what", files={"x.db": "no database"}),
]
