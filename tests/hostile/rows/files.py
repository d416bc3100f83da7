"""Accelerators, mappings, directives, assignments, datasets and stores as files."""

from tests.hostile.rows import Row, holding, table
from tests.hostile.rows.layers import BOMB, DEEP

SEARCH = "mapper search -l mlp.2 --method random --budget 50"
EVALUATE = "mapper evaluate -l mlp.2"
PLAIN = "orders: [KCYXRS, KCYXRS]\nparallel: [K, C]\ntiles: [{}, {}]\ncluster_size: 4\n"

COMMANDS = {
    EVALUATE: {
        "--mapping nowhere.yaml": "nowhere.yaml: not found; expected a mapping",
        "--mapping .": "is a folder",
        "--dataflow nowhere.m": "nowhere.m: not found",
    },
    "mapper": {
        "search -l mlp.2 --agents nowhere.yaml --budget 50": "nowhere.yaml",
        "search -l mlp.2 --agents 50 --budget 50": "agents: got 50, expected 1..11",
        "cluster -l mlp.2 --dataset nowhere.npz": "nowhere.npz: not found",
        "runs list --store 'http://host:abc/x'": "store",
    },
}
ROWS = [
    *(
        Row(f"{SEARCH} -a chip.yaml", says, files={"chip.yaml": content})
        for content, says in [
            ("", "expected"),
            ("num_pes: 0", "num_pes: got 0"),
            ("num_pes: 0x" + "f" * 5000, "num_pes: got <a number of some"),
            ("num_pes: 4\nnum_pse: 4", "Did you mean 'num_pes'"),
            *(
                (f"{{num_pes: 16, levels: {{{level}}}}}", r"levels\..*(1,073,741,824|2\^30)")
                for level in (
                    "L2: {bytes: 1073741824, double_buffer: false}",
                    "L2: {bytes: {shared: 1048576, input: 1099511627776}}",
                    "L2: {read_bw: 1099511627776, write_bw: 1099511627776}",
                )
            ),
            ("num_pes: [", "not valid YAML"),
            (DEEP, "nested too deeply"),
            (f"{BOMB}num_pes: *l", "too many values"),
            ("num_pes: !!python/object:os.system {}", "not valid YAML"),
            (b"\x80abc", "not UTF-8"),
        ]
    ),
    Row(f"{SEARCH} -a chips.yaml", "Did you mean 'chip.yaml'", {"chip.yaml": "num_pes: 4"}),
    *holding(
        "map.yaml",
        {
            f"{EVALUATE} --mapping map.yaml": [
                ("", "empty"),
                ("[1, 2]", "expected named fields"),
                ("orders: [KCYXRS]", "missing fields"),
                ("orders: 5\n" + PLAIN.partition("\n")[2], "orders"),
                (PLAIN.replace("[{}, {}]", "[1, 2]"), "tiles"),
                (PLAIN.replace("4", "-4"), "cluster_size"),
                (PLAIN.replace("{}, {}", "{K: 2024-01-01}, {}"), "tiles"),
            ]
        },
    ),
    *table(COMMANDS),
    Row(
        "mapper search -l mlp.2 --cost-model simulator --space paper --budget 50",
        "'paper' is for the cost models maestro and exact, not 'simulator'",
    ),
    *holding(
        "flow.m",
        {
            f"{EVALUATE} --dataflow flow.m": [
                ("", "no directives"),
                ("SpatialMap(1,1", "flow.m:1: expected"),
                ("TemporalMap(" + "9" * 5000 + ",1) K;", "at most 200 characters"),
                ("TemporalMap(²,1) K;", "flow.m:1"),
                ("Network x { ", "flow.m"),
                (b"\xff\xfe", "not UTF-8"),
            ]
        },
    ),
    *holding(
        "agents.yaml",
        {
            "mapper search -l mlp.2 --agents agents.yaml --budget 50": [
                ("agents: [[a], []]", "agents.1: "),
                ("", "expected the fields agents, source"),
                ("agents: [[a, b], [a]]", "already belongs to agent 0"),
                ("{agents: [[a]], foo: 1}", "unknown field 'foo'"),
                ("agents: [[no_such_parameter]]", "no_such_parameter"),
                ("agentz: []", "Did you mean 'agents'"),
            ]
        },
    ),
    Row("mapper cluster -l mlp.2 --dataset x.npz", "is no dataset", {"x.npz": "text"}),
    *(
        Row(f"mapper {command} --store x.sqlite", "x.sqlite", files={"x.sqlite": "no database"})
        for command in ("runs list", "runs show 1", "validate", "explain 1", "report")
    ),
    Row("mapper report .", "neither a store", {"note.txt": "x"}),
]
