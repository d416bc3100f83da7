"""Command lines of mpe-marl."""

from tests.hostile.rows import Row

ROWS = [
    Row("mpe-marl trian", "Did you mean 'train'"),
    Row("mpe-marl train -w :", "world ':' is not known"),
    Row("mpe-marl train -w simple_tug", "Did you mean 'simple_tag'"),
    Row("mpe-marl train -w nowhere.at_all:make", "cannot be imported"),
    Row("mpe-marl train -w math:pi", "is no function"),
    Row("mpe-marl train -w 'a b:c'", "is not known"),
    Row("mpe-marl train --threads 50000", "--threads: got '50000'.*1024"),
    Row("mpe-marl train -n 100000000", "-n: got '100000000'.*1000"),
    Row("mpe-marl train -n 0", "-n: got '0'"),
    Row("mpe-marl train --lr inf", "lr=inf; expected a finite number"),
    Row("mpe-marl train --lr nan", "lr=nan"),
    Row("mpe-marl train --lr 0", "lr=0"),
    Row("mpe-marl train --seed -1", "--seed: got '-1'"),
    Row("mpe-marl train --seed 100000000000000000000000000", "--seed: got '1000"),
    Row("mpe-marl train --episodes 0", "--episodes: got '0'"),
    Row("mpe-marl train --workers 100000", "--workers: got '100000'"),
    Row("mpe-marl train --batch 0", "--batch: got '0'"),
    Row("mpe-marl train --mode fold", "Did you mean 'folded'"),
    Row("mpe-marl train --law unifrom", "Did you mean 'uniform'"),
    Row("mpe-marl train --layout jiont", "Did you mean 'joint'"),
    Row("mpe-marl train --engine mpe3", "Did you mean 'mpe2'"),
    Row("mpe-marl train -a madpg", "Did you mean 'maddpg'"),
    Row("mpe-marl train --device cudda", "device 'cudda'"),
    Row("mpe-marl train --mode folded", "law 'shared'"),
    Row("mpe-marl train --store ''", "--store: got an empty word"),
    Row("mpe-marl profile -n 0", "--agents"),
    Row("mpe-marl profile -n 5000", "--agents"),
    Row("mpe-marl compare --variant foldet", "Did you mean 'folded'"),
    Row("mpe-marl plot nowhere.json", "nowhere.json: not found"),
    *(
        Row("mpe-marl plot p.json", says, files={"p.json": content})
        for content, says in [
            ("", "not valid JSON"),
            ("[]", "expected what"),
            ("3", "expected what"),
            ("[3]", "expected what"),
            ('[{"phase_ms": {}}]', "row 0"),
            (
                '[{"algorithm": "a", "n_agents": 3, "phase_ms": {"act": 1}, "counters": {}}]',
                "store",
            ),
            ('[{"algorithm": "a", "n_agents": 3, "variant": "x"}]', "sample_cut_percent"),
            ("[" * 100_000, "not valid JSON"),
        ]
    ),
]
