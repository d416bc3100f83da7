"""Layers: in line, and in files that are missing, damaged, or made to exhaust who reads them."""

from tests.hostile.rows import Row, holding, table

SEARCH = "mapper search --method random --budget 50"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(97 + i)}: &{chr(97 + i)} [{', '.join([f'*{chr(96 + i)}'] * 10)}]\n" for i in range(1, 12)
)
"""Each line stands for ten times as much as the one before."""

LOOP = "layers: &l\n  - {name: x, kind: conv, K: *l}\n"
"""A value that holds itself."""

DEEP = "layers: " + "[" * 600 + "]" * 600
ONE = "layers:\n  - {{name: one, kind: conv, K: {0}, C: 4, Y: 8, X: 8, R: 3, S: 3}}\n"

KEEP = "mapper search --fuse keep --network"
PLAIN = "- {kind: gemm, M: 2, N: 2, K: 2}\n"


def edges(*inputs: str, source: str = "x: [2, 4]", name: str = "a") -> str:
    """A file of products in line, each with what it reads; all but the first have the name."""
    fields = "kind: gemm, M: 2, N: 4, K: 4, inputs: [{}]"
    lines = [
        f"  - {{name: {name if place else 'a'}, {fields.format(one)}}}"
        for place, one in enumerate(inputs)
    ]
    return "\n".join((f"sources: {{{source}}}", "layers:", *lines, ""))


COMMANDS = {
    "mapper": {
        "layers nowhere.yaml": "nowhere.yaml: not found; expected a YAML file of layers",
        "layers ./nowhere": "ends in .yaml",
        "search --layer mlp.2 --fuse tiles": "--fuse tiles: a single layer has no others",
        "search --network mlp --fuse tiles -a simba -o power": "--fuse tiles: got the objective",
        "search --network mlp --fuse tiles --cost-model maestro": "does not price",
        "search --layer mlp.2 --passes counted": "give --network N",
    },
    "mapper search --network mlp --fuse keep": {
        "--cost-model maestro": "'maestro' does not price what moves between layers",
        "--method ga": "is proven, expected the method optimal, not ga",
        "-o area": "got the objective 'area', expected one of latency, energy, edp",
    },
    "mapper search --network mlp --inputs": {
        "4": "--inputs 4: runs share nothing without --fuse keep",
        "4 --fuse keep -a simba": "--inputs 4: expected a chip of two levels",
    },
}
ROWS = [
    *(
        Row(f"{SEARCH} -l '{layer}'", says)
        for layer, says in [
            ("vgg17.1", "Did you mean 'vgg16'"),
            ("mlp.99", "mlp.0 to mlp.2"),
            ("vgg16.conv3_9", "Did you mean 'vgg16.conv3_"),
            ("vgg16", "whole network"),
            ("conv:K=0,C=1,Y=1,X=1,R=1,S=1", "K: got 0"),
            ("conv:K=1.5,C=1,Y=1,X=1,R=1,S=1", "K='1.5' is not a whole number"),
            ("conv:K=" + "9" * 30 + ",C=1,Y=1,X=1,R=1,S=1", "K: got 9{30}, expected"),
            ("conv:K=" + "9" * 5000 + ",C=1,Y=1,X=1,R=1,S=1", "K="),
            ("conv:K=4", "missing C .input channels"),
            ("conv:", "expected FIELD=NUMBER"),
            ("conv:K=4,K=5", "K is given twice"),
            ("conv:K=1,C=1,Y=1,X=1,R=1,S=1,strid=2", "Did you mean 'stride'"),
            ("cnv:K=4", "Did you mean 'conv'"),
            ("gemm:M=1,C=2,K=3", "unknown field 'C'; expected M, N, K, batch"),
            ("conv:K=1,C=1,Y=9,X=9,R=3,S=3,stride=2x0", "stride: got .2, 0., expected a whole"),
            ("nowhere.yaml", "whole file"),
            ("\\x1b[31m.1", "x1b"),
        ]
    ),
    *table(COMMANDS),
    Row("mapper layers net.yaml", "Did you mean 'nets.yaml'", {"nets.yaml": "x"}),
    *(
        Row(f"mapper layers {name}", says, files={name: content})
        for name, content, says in [
            ("empty.yaml", "", "no layers"),
            ("bytes.yaml", b"\xff\xfe\x00\x01", "not UTF-8"),
            ("open.yaml", "layers: [", "not valid YAML"),
            ("deep.yaml", DEEP, "nested too deeply"),
            ("bomb.yaml", f"{BOMB}layers: *l\n", "too many values|unknown key"),
            ("loop.yaml", LOOP, "too many values"),
            ("date.yaml", ONE.format("2024-01-01"), "K: got '2024-01-01'"),
            ("long.yaml", ONE.format("9" * 5000), "K"),
            ("python.yaml", ONE.format("!!python/object:os.system {}"), "could not determine"),
            ("twice.yaml", ONE.format("4, K: 5"), "K: given twice"),
            ("kind.yaml", "- {kind: konv, K: 4}", "Did you mean 'conv'"),
            ("nokind.yaml", "- {K: 4}", "kind: missing"),
            ("key.yaml", "lairs: []", "unknown key 'lairs'.*Did you mean 'layers'"),
            ("number.yaml", "- 3", "line 1: expected a layer with fields"),
            ("field.yaml", ONE.format("4, strid: 2"), "field 'strid'.*'stride'"),
            ("stride.yaml", ONE.format("4, stride: 0"), "line 2: layer 'one': stride: got 0"),
            ("same.yaml", PLAIN.replace("- {", "- &x {name: a, ") + "- *x\n", "is already taken"),
            ("escape.yaml", "layerz\x1b[31m: []", "not valid YAML|unknown key"),
            ("short.csv", "1,2,3\n", "got 3 columns"),
            ("head.csv", "K,C,Y,X,R,T\n", "line 1: the columns S are missing"),
            ("twice.csv", "K,C,Y,X,R,S,K,T\n", "line 1: column 'K' is there twice"),
            ("empty.csv", "", "no layers"),
            ("column.csv", "K,C,Y,X,R,S,kind\n", "line 1: unknown column 'kind'"),
            ("case.csv", "k,C,Y,X,R,S,T\n", "unknown column 'k'.*Did you mean 'K'"),
            ("large.csv", "32,4,2,16,3,3,1\n", "line 1: .*R=3 is larger"),
            ("word.csv", "a,2,3,4,5,6,1\n", "K: got 'a'"),
            ("type.csv", "4,4,8,8,3,3,9\n", "T=9 is unknown"),
            ("field.csv", "x" * 140_000 + "\n", "not valid CSV"),
        ]
    ),
    *table(
        {
            "mapper layers": {
                "--graph": "no network is named",
                "mlp --graph --distinct": "lists shapes",
                "mlp --out a.svg": "expected --graph",
                "mlp --graph --out a.gif": "ending in .svg",
            },
            KEEP: {
                "a.csv": "says nothing of what each reads",
                "a.yaml": "'layer0' has no inputs",
                "mlp --budget 50": "takes no --budget",
                "mlp --pretrained none": "takes no --pretrained",
                "mlp --limit max_latency_cycles=5": "takes no --limit",
                "mlp --cost-model exact:resident=input": "option resident is of a layer by itself",
                "mlp --passes all": "--passes: got 'all', expected free or counted",
                "mlp --space full=true": "tensors bypass L2",
                "mlp -a simba --space uneven=true": "tensors bypass L2, or parts of it",
                "mlp -a edge --space axis_dims=2": "leave axis_dims out of the space",
            },
        },
        {"a.csv": "4,4,8,8,3,3,1\n", "a.yaml": PLAIN},
    ),
    *holding(
        "g.yaml",
        {
            f"{KEEP} g.yaml": [
                (
                    edges("b", "a", name="b"),
                    "'b', which is written later or by itself; expected no",
                ),
                (edges("x", source="x: [n, 4]"), "sources.x.0: got 'n', expected a whole number"),
                (edges("x", source="x: [2, 4], x: [4]"), "line 1: x: given twice; give it once"),
                (
                    edges("x", source="x: [2, 4], y: [2, 3]")
                    + "  - {name: sum, kind: elementwise, inputs: [a, y], shape: [2, 4]}\n",
                    "shapes do not meet: reads 'y' of 2x3 and writes 2x4",
                ),
            ]
        },
    ),
]
