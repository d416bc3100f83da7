"""Chips of any depth and their mappings: what a list of levels, and an entry, cannot say."""

from tests.hostile.rows import Row, beside, table

DRAM = "{name: DRAM, kind: LPDDR4}"
GLB = "{name: GLB, bytes: 65536, fanout: {axes: [4, 2], dims: [KC, KCYX]}}"
REG = "{name: Reg, bytes: 64}"
LAYER = "--layer conv:K=8,C=8,Y=10,X=10,R=3,S=3"
SHOW = "mapper accelerators c.yaml"
EVALUATE = f"mapper evaluate {LAYER} -a c.yaml --mapping m.yaml"


def chip(*levels: str, more: str = "") -> dict[str, str]:
    """A chip's file with these levels."""
    return {"c.yaml": f"levels: [{', '.join(levels)}]\n{more}\n"}


def entry(level: str, **fields: str) -> str:
    """An entry of a mapping."""
    return "{" + ", ".join([f"level: {level}", *(f"{k}: {v}" for k, v in fields.items())]) + "}"


def mapping(*entries: str, version: str = "1") -> dict[str, str]:
    """A good chip's file, and a mapping's with these entries."""
    return {**GOOD, "m.yaml": f"version: {version}\nlevels: [{', '.join(entries)}]\n"}


GOOD = chip(DRAM, GLB, REG)
G = entry("GLB", tiles="{K: 4}", parallel="[{dim: K, units: 4}]")
R = entry("Reg", tiles="{K: 1, C: 1, Y: 1, X: 1, R: 1, S: 1}")


def glb(**fields: str) -> dict[str, str]:
    """A mapping whose entry of GLB has these fields."""
    return mapping(entry("GLB", **fields), R)


def reg(**fields: str) -> dict[str, str]:
    """A mapping whose entry of Reg has these fields."""
    return mapping(G, entry("Reg", **fields))


MANY = [f"{{name: M{n}, bytes: 64}}" for n in range(6)]
BARE = [f"{{name: F{n}, holds: [], fanout: {{units: 2}}}}" for n in range(3)]


def level(**fields: str) -> dict[str, str]:
    """A chip whose GLB has other fields."""
    said = {"name": "GLB", "bytes": "65536"} | fields
    return chip(DRAM, "{" + ", ".join(f"{k}: {v}" for k, v in said.items()) + "}", REG)


CHIPS_GIVEN = {
    SHOW: [
        (chip(), "got none, expected a list that begins with DRAM"),
        (chip(DRAM), "0 levels inside DRAM hold something"),
        (chip(DRAM, *MANY), "6 levels inside DRAM hold something, expected 1 to 5"),
        (chip(DRAM, REG, *BARE), "3 levels hold nothing, expected at most 2"),
        (chip(GLB, DRAM, REG), "got 'GLB' first, expected a list that begins with DRAM"),
        (chip(DRAM, GLB, "{name: glb, bytes: 64}"), "got 'glb' a second time"),
        (level(name="MAC"), "'MAC', which means the MACs"),
        (level(name="<b>"), "got '<b>', expected a letter"),
        (level(name="7"), "name: got 7"),
        (chip(DRAM, "{bytes: 64}"), "name missing"),
        (chip(DRAM, "{name: GLB, bytes: 64, holds: [input, output]}"), "filter is kept nowhere"),
        (
            level(bytes="{shared: 64, filter: 8}", holds="[input, output]"),
            "bytes.filter: got 8, but levels.GLB.holds leaves filter out",
        ),
        (level(holds="[]", fanout="{units: 2}"), "holds nothing"),
        (chip(DRAM, "{name: F, holds: []}", REG), "fans out to nothing"),
        (level(bytes="0"), "levels.GLB: bytes: got 0"),
        (level(bytes=".nan"), "bytes: got nan"),
        (level(fanout="{units: 0}"), "fanout.units: got 0"),
        (level(fanout="{units: 2, network: {pj_per_bit: -1}}"), "pj_per_bit: got -1"),
        (level(fanout="{units: 2, axes: [2]}"), "expected either units, or axes"),
        (level(fanout="{axes: [2, 2, 2, 2]}"), "got 4 axes, expected 1 to 3"),
        (level(fanout="{units: 2, dims: KQ}"), "dims: got 'KQ', expected some of"),
        (level(fanout="{axes: [2, 2], dims: [K]}"), "dims: got 1 entries, expected 2"),
        (level(fanout="{units: 2, reduce: 'no'}"), "reduce: got 'no', expected true or false"),
        (level(fanout="{axes: [2147483648]}"), "axes.0.*at most 2\\^30"),
        (
            level(fanout="{axes: [1073741824, 1073741824, 1073741824]}"),
            "all fan-outs together make",
        ),
        (chip("{name: DRAM, fanout: {units: 2}}", REG), "DRAM: unknown field 'fanout'|fanout"),
        (level(shared_bw="true"), "shared_bw: both directions share read_bw"),
        (level(bites="3"), "unknown field 'bites'.*mean 'bytes'"),
        (chip(DRAM, GLB, REG, more="rows: 3"), "unknown field 'rows'"),
        (chip(DRAM, GLB, REG, more="num_pes: 3"), "num_pes beside a list of levels"),
        (chip(DRAM, REG, more="bits: {input: 0}"), "bits.input: got 0|bits.input"),
        (chip(DRAM, "{lanes: {units: 4}}", REG), "lanes end the list"),
        (chip(DRAM, REG, "{lanes: {units: 0}}"), "lanes.units: got 0"),
        (chip(DRAM, REG, "{lanes: {units: 4, any: false}}"), "lanes.any: got False"),
        (chip(DRAM, "7", REG), r"levels\[1\]: expected the fields"),
    ],
}
CHIPS_COMMANDS = {
    "mapper": {
        "accelerators --set levels.L2.bytes=3": "--set needs NAME or FILE",
        "accelerators --levels": "--levels belongs to --template",
        "accelerators edge --set levels.L3.bytes=3": "unknown field 'L3'",
        "accelerators edge --set levels.L2.bytes": "expected PATH=VALUE",
        "accelerators edge --set num_pes=[1": "expected a value as YAML",
    },
}
CHIPS = [
    *beside(CHIPS_GIVEN),
    Row(
        f"mapper search {LAYER} -a c.yaml --budget 5",
        "axis0: 2097152 units, expected at most 1048576 to choose from",
        level(fanout="{axes: [2097152]}"),
    ),
    *table(CHIPS_COMMANDS),
    Row(f"{SHOW} --set levels.Glb.bytes=3", "no level 'Glb'; expected one of", GOOD),
    Row(f"{SHOW} --set levels.GLB=3", "expected a field of a level", GOOD),
]
MAPPINGS_GIVEN = {
    EVALUATE: [
        (mapping(G, R, version="2"), "version: got 2, expected 1; a later version"),
        (mapping(G), "an entry for each level of the chip.*GLB, Reg"),
        (mapping(G, G, G, G, R), "GLB stands 4 times, expected at most 3"),
        (mapping(entry("Glb"), R), "got 'Glb', expected one of"),
        (mapping(entry("GLB"), G, R), "keeps missing; GLB stands more than once"),
        (reg(order="KCYXR"), "order: got 'KCYXR', expected a permutation"),
        (reg(order="7"), "order: got 7"),
        (reg(tiles="{Q: 1}"), "tiles: got 'Q'"),
        (reg(tiles="{K: 0}"), "tiles.K: got 0"),
        (reg(tiles="3"), "tiles: got 3"),
        (reg(keeps="[inputs]"), "keeps: got.*but Reg holds|keeps"),
        (
            mapping(entry("GLB", keeps="[filter, output]"), entry("Reg", keeps="[output]")),
            "input is kept nowhere",
        ),
        (
            mapping(entry("GLB", keeps="[input]"), entry("GLB", keeps="[input, filter]"), R),
            "GLB keeps input in two entries",
        ),
        (glb(parallel="[{dim: K, units: 9}]"), "units: got 9, expected at most 4"),
        (glb(parallel="[{dim: K, axis: 2}]"), "axis: got 2, expected 0 to 1"),
        (glb(parallel="[{dim: Y}]"), "dim: got 'Y', expected one of K, C"),
        (reg(parallel="[{dim: K, units: 1}]"), "the level feeds one unit"),
        (glb(parallel="K"), "parallel: got 'K', expected a list"),
        (glb(parallel="[{dim: K, unit: 2}]"), "unknown field 'unit'.*mean 'units'"),
        (reg(tile="{K: 1}"), "unknown field 'tile'.*mean 'tiles'"),
        ({**GOOD, "m.yaml": "levels: []"}, "m.yaml: mapping.levels"),
        (
            {
                **GOOD,
                "m.yaml": "{orders: [KCYXRS, KCYXRS], parallel: [K, C], tiles: [{}, {}], "
                "cluster_size: 2}",
            },
            "two levels, but the chip is a list",
        ),
    ],
}
MAPPINGS = [
    *beside(MAPPINGS_GIVEN),
    Row(
        f"mapper evaluate {LAYER} -a edge --mapping m.yaml",
        "the chip has no list of levels",
        mapping(G, R),
    ),
    Row(
        f"{EVALUATE} --cost-model exact:energy=maestro",
        "energy=maestro prices chips of L2",
        mapping(G, R),
    ),
    Row(
        f"{EVALUATE} --l1-bytes 5",
        "--l1-bytes: the levels of c.yaml are a list.*--set levels.Reg",
        mapping(G, R),
    ),
]
ROWS = CHIPS + MAPPINGS
