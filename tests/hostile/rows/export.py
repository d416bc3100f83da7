"""Exports: mappings that no tool has words for, files that are none, places that take none."""

from tests.hostile.rows import Row, beside
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

GIVEN = {
    ZIGZAG: [
        (mapping(orders="[KCYXRR, KCYXRS]"), "orders"),
        (mapping(parallel="[Q, C]"), "parallel"),
        (mapping(parallel="[K]"), "parallel"),
        (mapping(tiles="[{K: 0}, {}]"), "tiles"),
        (mapping(cluster_size="999"), "a cluster of 999 PEs is more than the chip's 168"),
        (mapping(tiles="[{K: 3, C: 4}, {K: 1, C: 1}]"), "tiles of K cover"),
        (mapping(bypass="[[input], [input]]"), "input is kept nowhere"),
        (mapping(parallel2="[C, null]", units="[999, null]"), "units"),
    ],
    f"{DEEP} zigzag": [
        (WHOLE | GOOD, "an entry for each level goes with a list of levels"),
        (SPREAD_C, "along C on axis 0 do not share output; give"),
    ],
    f"{DEEP} timeloop": [
        (
            deep.mapping(
                deep.entry("GLB", keeps="[input]"), deep.entry("GLB", keeps="[filter]"), deep.R
            ),
            "GLB stands 2 times, in Timeloop a memory has one tile",
        ),
        (SPREAD_C, "along C on axis 0 do not share output; give"),
        (
            deep.mapping(deep.entry("Reg"), deep.entry("Reg_filter"))
            | deep.chip(deep.DRAM, "{name: Reg, bytes: 64}", "{name: Reg_filter, bytes: 64}"),
            "levels.Reg_filter.name: .*rename the level",
        ),
    ],
    FOLDER: [
        ({"manifest.json": "{"}, "manifest.json"),
        ({"manifest.json": "{}"}, "manifest.json.*damaged"),
        ({"manifest.json": '{"problem": 3}'}, "manifest.json"),
        ({"manifest.json": '{"problem": {"layer_fields": 3}}'}, "manifest.json"),
    ],
}
ROWS = [
    Row(WORDS, "--to: got '', expected one of zigzag", GOOD),
    Row(f"{WORDS} --to ZigZag", "--to: got 'ZigZag'.*mean 'zigzag'", GOOD),
    Row(f"{ZIGZAG} --out m.yaml", "--out m.yaml", GOOD),
    Row(f"{ZIGZAG} --out /proc/x", "/proc", GOOD),
    Row("mapper export --to zigzag --layer gemm:M=1 --mapping m.yaml", "gemm:M=1", GOOD),
    *beside(GIVEN),
    Row(f"{WORDS} --to timeloop", "tiles of C cover .*add --pad", mapping(tiles="[{}, {C: 3}]")),
    Row(f"{DEEP} maestro", "MAESTRO has the levels L2 and L1.*expected --to zigzag", WHOLE),
    Row(
        f"{DEEP} accelforge",
        "levels.All.name: the tools' files have another part of this name",
        deep.mapping(deep.entry("All"), deep.R)
        | deep.chip(deep.DRAM, "{name: All, bytes: 64}", deep.REG),
    ),
    Row(
        "mapper export --layer gemm:M=1,N=1,K=1 --mapping m.yaml --to zigzag",
        "one multiplication; nothing to export",
        mapping(tiles="[{}, {}]", cluster_size="1"),
    ),
    Row(f"{WORDS} --to python --openmp", "--openmp: got --to python, expected --to c", GOOD),
    Row(f"{WORDS} --to gemmini", "expected a square array whose L2", GOOD),
    Row(f"{GEMMINI} --to gemmini", "tiles have 4 of K, expected a multiple of 16", GOOD),
    *(
        Row(f"{GEMMINI} -l {layer} --to gemmini", "is no product of two matrices", files=GOOD)
        for layer in (
            "conv:K=8,C=8,Y=5,X=5,R=3,S=3",
            "gemm:M=8,N=8,K=8,batch=2",
            "dsconv:C=8,Y=4,X=4,R=1,S=1",
        )
    ),
    *(
        Row(f"{SMALL} --to {tool}", "infeasible on this chip: .*limit 1 B", files=TIGHT)
        for tool in ("zigzag", "python")
    ),
    Row("mapper diff m.yaml", "argument", GOOD),
    Row("mapper diff m.yaml m.yaml", "needs --layer", GOOD),
    Row("mapper diff m.yaml none.yaml -l mlp.2", "none.yaml", GOOD),
    Row(FOLDER, "holds no manifest.json"),
]
