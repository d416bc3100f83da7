"""Command lines of mpe-marl."""

from tests.hostile.rows import Row, holding, table

COMMANDS = {
    "mpe-marl": {
        "trian": "Did you mean 'train'",
        "train -w :": "world ':' is not known",
        "train -w simple_tug": "Did you mean 'simple_tag'",
        "train -w nowhere.at_all:make": "cannot be imported",
        "train -w math:pi": "is no function",
        "train --mode fold": "Did you mean 'folded'",
        "train --engine mpe3": "Did you mean 'mpe2'",
        "train -a madpg": "Did you mean 'maddpg'",
        "train --mode folded": "law 'shared'",
        "train --device cuda:99": "device 'cuda:99' cannot be used",
        "train --neighbors 5": "neighbors=5 has no meaning for sampling law 'shared'",
        "train --law neighbor-skip": "law 'neighbor-skip' is not known",
        "train --share-parameters --law uniform": "expected mode 'shared' or 'folded'",
        "evaluate 1": "mpe-runs.db",
        "train --gamma 2": "gamma=2.0: expected a number from 0 to 1",
        "train --noise -1": "noise=-1.0: expected a number of at least 0",
        "compare --variant foldet": "Did you mean 'folded'",
        "plot nowhere.json": "nowhere.json: not found",
        "train --log tensorboard:": "expected tensorboard:FOLDER",
    },
}
ROWS = [
    *table(COMMANDS),
    Row("mpe-marl profile -n 3 --figures afile/in", "Name another", {"afile": ""}),
    Row("mpe-marl train --config c.yaml", "option 'gama' is not known", {"c.yaml": "gama: 1"}),
    Row("mpe-marl train --config c.yaml", "c.yaml: tau: got 'x'", {"c.yaml": "tau: x"}),
    *holding(
        "p.json",
        {
            "mpe-marl plot p.json": [
                ("", "not valid JSON"),
                ("[]", "expected what"),
                ('[{"phase_ms": {}}]', "row 0"),
                (
                    '[{"algorithm": "a", "n_agents": 3, "phase_ms": {"act": 1}, "counters": {}}]',
                    "store",
                ),
                ('[{"algorithm": "a", "n_agents": 3, "variant": "x"}]', "sample_cut_percent"),
            ]
        },
    ),
]
