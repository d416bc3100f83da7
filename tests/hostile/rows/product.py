"""Sweeps of nothing, chips that cannot exist, tools that do not."""

from tests.hostile.rows import Row, table

MAPPING = (
    "{orders: [KCYXRS, KCYXRS], parallel: [K, C], cluster_size: 1,"
    " tiles: [{K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}, {K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}]}"
)
EXPLORE = "mapper explore --network mlp"
OLD = "levels: {L1: {bytes: {input: 24, filter: 448, output: 48}}}\nnum_pes: 16\n"
COMMANDS = {
    "mapper": {
        "export --to zigzag": "expected one of: a folder of",
        "export --mapping m.yaml --to zigzag": "needs --layer",
        "export --run 3 --to zigzag --store none.sqlite": "no such file",
        "export --run 3 --to zigzag -a cloud": "leave --accelerator out",
        "export . --to zigzag -l mlp.2": "leave --layer out",
        "diff . . -a cloud": "leave --accelerator out",
        "search -l mlp.2 --cost-model-option double_buffer": "expected NAME=VALUE",
    },
    EXPLORE: {
        "": "no range is given.*--pes 64..1024",
        "--pes 1024..64": "give 64..1024",
        "--pes 65..100": "holds no power of two",
        "--l2 16k,32k --set levels.L2.bytes=64k": "--set levels.L2.bytes: a range sweeps it, too",
        "--pes 16 -o edp": "--objectives: got 'edp'",
        "--pes 16 -o area,power": "mappings are chosen for these",
        "--pes 16 --draw nsga": "Did you mean 'nsga2'",
        "--pes 16,32 --draw uniform": "Give --designs N",
        "--pes 16,32 --draw all --designs 1": "drop one",
        "--pes 16 --plot a.txt": "--plot a.txt: expected a name that ends in",
        "--pes 16 --page a.txt": "--page a.txt: expected a name that ends in .html",
        "--pes 16 --pretrained x": "--pretrained x: not found",
        "--pes 16 --cost-model maestro": "area: cost model 'maestro'",
    },
}
ROWS = [
    *table(COMMANDS),
    Row("mapper import m.json", "JSON", {"m.json": "{"}),
    *(
        Row(f"{EXPLORE} --pes 16 --ray-address {there}", f"got '{there}', expected auto")
        for there in ("here", "ray://head:10001", ":6379", "head:port")
    ),
    Row(f"{EXPLORE} --l1 64 --accelerator c.yaml", "design l1_bytes=64: ", {"c.yaml": OLD}),
    Row(
        "mapper evaluate -l mlp.2 --mapping m.yaml --cost-model all --cost-model-option a=1",
        "give one --cost-model",
        {"m.yaml": MAPPING},
    ),
]
