"""Exports: mappings that no tool has words for, files that are none, places that take none."""

from tests.hostile.rows import Row
from tests.hostile.rows import chains as deep


def mapping(**changed: str) -> dict[str, str]:
    """A mapping file of one layer, with some fields as given; an empty text leaves one out."""
    whole = "{K: 4, C: 4, Y: 1, X: 1, R: 1, S: 1}"
    fields = {
        "orders": "[KCYXRS, KCYXRS]",
        "parallel": "[K, C]",
        "cluster_size": "2",
        "tiles": f"[{whole}, {{K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}}]",
    } | changed
    return {"m.yaml": "\n".join(f"{name}: {text}" for name, text in fields.items() if text)}


GOOD = mapping()
WORDS = "mapper export --layer gemm:M=1,N=8,K=8 --mapping m.yaml"
ZIGZAG = f"{WORDS} --to zigzag"
SMALL = f"{ZIGZAG} -a c.yaml"
GEMMINI = f"{WORDS} -a gemmini-16"
TIGHT = GOOD | {"c.yaml": "{num_pes: 16, l1_bytes: 1}"}
FOLDER = "mapper export . --to zigzag"
DEEP = f"mapper export {deep.LAYER} -a c.yaml --mapping m.yaml --to"
WHOLE = deep.mapping(deep.G, deep.R)
NO_SUMS = deep.chip(
    deep.DRAM, "{name: GLB, bytes: 65536, fanout: {units: 4, reduce: false}}", deep.REG
)
SPREAD_C = deep.mapping(deep.entry("GLB", parallel="[{dim: C, units: 4}]"), deep.R) | NO_SUMS

ROWS = [
    Row(WORDS, "--to: got '', expected one of zigzag", files=GOOD),
    Row(f"{WORDS} --to ZigZag", "--to: got 'ZigZag'.*mean 'zigzag'", files=GOOD),
    Row(f"{WORDS} --to zigzag,maestro", "--to: got 'zigzag,maestro'", files=GOOD),
    Row(f"{WORDS} --to acelforge", "mean 'accelforge'", files=GOOD),
    Row(f"{WORDS} --to zigzag --to maestr", "mean 'maestro'", files=GOOD),
    Row(f"{ZIGZAG} --padd", "--padd", files=GOOD),
    Row(f"{ZIGZAG} --out ''", "--out: got an empty word", files=GOOD),
    Row(f"{ZIGZAG} --out m.yaml", "--out m.yaml", files=GOOD),
    Row(f"{ZIGZAG} --out m.yaml/x", "m.yaml is a file|m.yaml", files=GOOD),
    Row(f"{ZIGZAG} --out /proc/x", "/proc", files=GOOD),
    Row(f"{ZIGZAG} --run 1", "expected one of", files=GOOD),
    Row(f"{ZIGZAG} . ", "expected one of", files=GOOD),
    Row("mapper export --to zigzag --layer mlp.2", "expected one of"),
    Row("mapper export --to zigzag --mapping m.yaml", "needs --layer", files=GOOD),
    Row("mapper export --to zigzag --layer mlp.9 --mapping m.yaml", "mlp", files=GOOD),
    Row("mapper export --to zigzag --layer mpl.2 --mapping m.yaml", "mean 'mlp", files=GOOD),
    Row("mapper export --to zigzag --layer gemm:M=1 --mapping m.yaml", "gemm:M=1", files=GOOD),
    Row(f"{ZIGZAG} --accelerator edgy", "mean 'edge'", files=GOOD),
    Row(f"{ZIGZAG} --accelerator none.yaml", "none.yaml", files=GOOD),
    Row("mapper export --to zigzag --layer mlp.2 --mapping none.yaml", "none.yaml"),
    Row("mapper export --to zigzag --layer mlp.2 --mapping .", r"\."),
    Row(ZIGZAG, "m.yaml: empty", files={"m.yaml": ""}),
    Row(ZIGZAG, "m.yaml", files={"m.yaml": "["}),
    Row(ZIGZAG, "m.yaml", files={"m.yaml": "- 1"}),
    Row(ZIGZAG, "m.yaml", files={"m.yaml": b"\xff\xfe\x00"}),
    Row(ZIGZAG, "orders", files=mapping(orders="")),
    Row(ZIGZAG, "orders", files=mapping(orders="[KCYXRS]")),
    Row(ZIGZAG, "orders", files=mapping(orders="[KCYXRR, KCYXRS]")),
    Row(ZIGZAG, "orders", files=mapping(orders="3")),
    Row(ZIGZAG, "parallel", files=mapping(parallel="[Q, C]")),
    Row(ZIGZAG, "parallel", files=mapping(parallel="[K]")),
    Row(ZIGZAG, "tiles", files=mapping(tiles="[{K: 0}, {}]")),
    Row(ZIGZAG, "tiles", files=mapping(tiles="[{K: 1.5}, {}]")),
    Row(ZIGZAG, "tiles", files=mapping(tiles="[{Z: 1}, {}]")),
    Row(ZIGZAG, "tiles", files=mapping(tiles="7")),
    Row(ZIGZAG, "cluster_size", files=mapping(cluster_size="0")),
    Row(ZIGZAG, "cluster_size", files=mapping(cluster_size="two")),
    Row(
        ZIGZAG,
        "a cluster of 999 PEs is more than the chip's 168",
        files=mapping(cluster_size="999"),
    ),
    Row(ZIGZAG, "tiles of K cover", files=mapping(tiles="[{K: 3, C: 4}, {K: 1, C: 1}]")),
    Row(
        f"{WORDS} --to timeloop",
        "tiles of C cover .*add --pad",
        files=mapping(tiles="[{}, {C: 3}]"),
    ),
    Row(f"{WORDS} --to accelforge", "whole factors", files=mapping(tiles="[{K: 5}, {}]")),
    Row(ZIGZAG, "input is kept nowhere", files=mapping(bypass="[[input], [input]]")),
    Row(ZIGZAG, "units", files=mapping(parallel2="[C, null]", units="[999, null]")),
    Row(f"{DEEP} maestro", "MAESTRO has the levels L2 and L1.*expected --to zigzag", files=WHOLE),
    Row(f"{DEEP} zigzag", "an entry for each level goes with a list of levels", files=WHOLE | GOOD),
    Row(
        f"{DEEP} zigzag -a edge", "an entry for each level goes with a list of levels", files=WHOLE
    ),
    Row(
        f"{DEEP} zigzag",
        "tiles of K cover 9, the layer has 8.*--pad",
        files=deep.mapping(deep.entry("GLB", tiles="{K: 3}"), deep.R),
    ),
    Row(f"{DEEP} zigzag", "expected an entry for each level", files=deep.mapping(deep.G)),
    Row(
        f"{DEEP} timeloop",
        "GLB stands 2 times, in Timeloop a memory has one tile",
        files=deep.mapping(
            deep.entry("GLB", keeps="[input]"), deep.entry("GLB", keeps="[filter]"), deep.R
        ),
    ),
    Row(f"{DEEP} zigzag", "along C on axis 0 do not share output; give", files=SPREAD_C),
    Row(f"{DEEP} timeloop", "along C on axis 0 do not share output; give", files=SPREAD_C),
    Row(
        f"{DEEP} accelforge",
        "levels.All.name: the tools' files have another part of this name",
        files=deep.mapping(deep.entry("All"), deep.R)
        | deep.chip(deep.DRAM, "{name: All, bytes: 64}", deep.REG),
    ),
    Row(
        f"{DEEP} timeloop",
        "levels.Reg_filter.name: .*rename the level",
        files=deep.mapping(deep.entry("Reg"), deep.entry("Reg_filter"))
        | deep.chip(deep.DRAM, "{name: Reg, bytes: 64}", "{name: Reg_filter, bytes: 64}"),
    ),
    Row(
        "mapper export --layer gemm:M=1,N=1,K=1 --mapping m.yaml --to zigzag",
        "one multiplication; nothing to export",
        files=mapping(tiles="[{}, {}]", cluster_size="1"),
    ),
    Row(SMALL, "num_pes: got 0", files=GOOD | {"c.yaml": "num_pes: 0"}),
    Row(
        SMALL,
        "levels.L2.*expected at most 1,073,741,824",
        files=GOOD
        | {"c.yaml": "{num_pes: 16, levels: {L2: {bytes: 1073741824, double_buffer: false}}}"},
    ),
    Row(f"{WORDS} --to python --openmp", "--openmp: got --to python, expected --to c", files=GOOD),
    Row(f"{WORDS} --to gemini", "mean 'gemmini'", files=GOOD),
    Row(f"{WORDS} --to gemmini", "expected a square array whose L2", files=GOOD),
    Row(f"{GEMMINI} --to gemmini", "tiles have 4 of K, expected a multiple of 16", files=GOOD),
    *(
        Row(f"{GEMMINI} -l {layer} --to gemmini", "is no product of two matrices", files=GOOD)
        for layer in (
            "conv:K=8,C=8,Y=5,X=5,R=3,S=3",
            "gemm:M=8,N=8,K=8,batch=2",
            "dsconv:C=8,Y=4,X=4,R=1,S=1",
        )
    ),
    Row(f"{SMALL} --to c", "infeasible on this chip: .*limit 1 B", files=TIGHT),
    Row(f"{SMALL} --to python", "infeasible on this chip: .*limit 1 B", files=TIGHT),
    *(
        Row(f"{SMALL} --to {tool}", "infeasible on this chip: .*limit 1 B", files=TIGHT)
        for tool in ("zigzag", "timeloop", "accelforge")
    ),
    Row(f"{WORDS} --to c --out /proc/x", "/proc", files=GOOD),
    Row("mapper diff m.yaml", "argument", files=GOOD),
    Row("mapper diff m.yaml m.yaml", "needs --layer", files=GOOD),
    Row("mapper diff m.yaml none.yaml -l mlp.2", "none.yaml", files=GOOD),
    Row("mapper diff . . -l mlp.2", "holds no manifest.json", files=GOOD),
    Row("mapper diff m.yaml m.yaml -l mpl.2", "mean 'mlp", files=GOOD),
    Row("mapper diff m.yaml m.yaml -l mlp.2 -o enrgy", "mean 'energy'", files=GOOD),
    Row("mapper diff m.yaml m.yaml -l mlp.2 -a edgy", "mean 'edge'", files=GOOD),
    Row(f"mapper diff m.yaml m.yaml {deep.LAYER} -a c.yaml", "mapping", files=WHOLE | GOOD),
    Row(FOLDER, "holds no manifest.json"),
    Row(FOLDER, "manifest.json", files={"manifest.json": "{"}),
    Row(FOLDER, "manifest.json.*damaged", files={"manifest.json": "{}"}),
    Row(FOLDER, "manifest.json", files={"manifest.json": "[]"}),
    Row(FOLDER, "manifest.json", files={"manifest.json": '{"problem": 3}'}),
    Row(FOLDER, "manifest.json", files={"manifest.json": '{"problem": {"layer_fields": 3}}'}),
    Row(FOLDER, "manifest.json", files={"manifest.json": '{"problem": {"layer_fields": {}}}'}),
    Row(
        FOLDER,
        "manifest.json",
        files={
            "manifest.json": '{"problem": {"layer_fields": {"kind": "conv"}, "accelerator": 3}}'
        },
    ),
    Row("mapper export m.yaml --to zigzag", "m.yaml", files=GOOD),
    Row("mapper export a b --to zigzag", "unexpected extra argument"),
    Row("mapper export --run x --store s.sqlite --to zigzag", "s.sqlite", files={"s.sqlite": "no"}),
    Row("mapper export --run 1 --store . --to zigzag", r"\."),
]
