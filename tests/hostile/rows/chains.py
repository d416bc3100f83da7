"""Chips of any depth and their mappings: what a list of levels, and an entry, cannot say."""

from tests.hostile.rows import Row

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
MANY = [f"{{name: M{n}, bytes: 64}}" for n in range(6)]
BARE = [f"{{name: F{n}, holds: [], fanout: {{units: 2}}}}" for n in range(3)]


def level(**fields: str) -> dict[str, str]:
    """A chip whose GLB has other fields."""
    said = {"name": "GLB", "bytes": "65536"} | fields
    return chip(DRAM, "{" + ", ".join(f"{k}: {v}" for k, v in said.items()) + "}", REG)


CHIPS = [
    Row(SHOW, "got none, expected a list that begins with DRAM", files=chip()),
    Row(SHOW, "0 levels inside DRAM hold something", files=chip(DRAM)),
    Row(SHOW, "6 levels inside DRAM hold something, expected 1 to 5", files=chip(DRAM, *MANY)),
    Row(SHOW, "3 levels hold nothing, expected at most 2", files=chip(DRAM, REG, *BARE)),
    Row(SHOW, "got 'GLB' first, expected a list that begins with DRAM", files=chip(GLB, DRAM, REG)),
    Row(SHOW, "got 'DRAM' a second time", files=chip(DRAM, DRAM, REG)),
    Row(SHOW, "got 'glb' a second time", files=chip(DRAM, GLB, "{name: glb, bytes: 64}")),
    Row(SHOW, "'MAC', which means the MACs", files=level(name="MAC")),
    Row(SHOW, "'macs', which means the MACs", files=level(name="macs")),
    Row(SHOW, "got '<b>', expected a letter", files=level(name="<b>")),
    Row(SHOW, r"got '\[red\]x', expected a letter", files=level(name="'[red]x'")),
    Row(SHOW, r"expected a letter.*|10000 long", files=level(name="a" * 10_000)),
    Row(SHOW, "got '', expected a letter", files=level(name="''")),
    Row(SHOW, "name: got 7", files=level(name="7")),
    Row(SHOW, "name missing", files=chip(DRAM, "{bytes: 64}")),
    Row(
        SHOW,
        "filter is kept nowhere",
        files=chip(DRAM, "{name: GLB, bytes: 64, holds: [input, output]}"),
    ),
    Row(
        SHOW,
        "bytes.filter: got 8, but levels.GLB.holds leaves filter out",
        files=level(bytes="{shared: 64, filter: 8}", holds="[input, output]"),
    ),
    Row(SHOW, "holds nothing", files=level(holds="[]", fanout="{units: 2}")),
    Row(SHOW, "fans out to nothing", files=chip(DRAM, "{name: F, holds: []}", REG)),
    Row(SHOW, "levels.GLB: bytes: got 0", files=level(bytes="0")),
    Row(SHOW, "bytes: got -5", files=level(bytes="-5")),
    Row(SHOW, "bytes: got nan", files=level(bytes=".nan")),
    Row(SHOW, "read_bw: got 0", files=level(read_bw="0")),
    Row(SHOW, "read_pj: got -1", files=level(read_pj="-1")),
    Row(SHOW, "area_um2: got nan", files=level(area_um2=".nan")),
    Row(SHOW, "fanout.units: got 0", files=level(fanout="{units: 0}")),
    Row(SHOW, "units: got 1.5", files=level(fanout="{units: 1.5}")),
    Row(SHOW, "pj_per_bit: got -1", files=level(fanout="{units: 2, network: {pj_per_bit: -1}}")),
    Row(SHOW, "expected either units, or axes", files=level(fanout="{units: 2, axes: [2]}")),
    Row(SHOW, "expected either units, or axes", files=level(fanout="{dims: K}")),
    Row(SHOW, "got 4 axes, expected 1 to 3", files=level(fanout="{axes: [2, 2, 2, 2]}")),
    Row(SHOW, "got 0 axes", files=level(fanout="{axes: []}")),
    Row(SHOW, "dims: got 'KQ', expected some of", files=level(fanout="{units: 2, dims: KQ}")),
    Row(SHOW, "dims: got 'KK'", files=level(fanout="{units: 2, dims: KK}")),
    Row(SHOW, "dims: got ''", files=level(fanout="{units: 2, dims: ''}")),
    Row(SHOW, "dims: got 1 entries, expected 2", files=level(fanout="{axes: [2, 2], dims: [K]}")),
    Row(
        SHOW,
        "reduce: got 'no', expected true or false",
        files=level(fanout="{units: 2, reduce: 'no'}"),
    ),
    Row(SHOW, "axes.0.*at most 2\\^30", files=level(fanout="{axes: [2147483648]}")),
    Row(
        SHOW,
        "all fan-outs together make",
        files=level(fanout="{axes: [1073741824, 1073741824, 1073741824]}"),
    ),
    Row(
        f"mapper search {LAYER} -a c.yaml --budget 5",
        "axis0: 2097152 units, expected at most 1048576 to choose from",
        files=level(fanout="{axes: [2097152]}"),
    ),
    Row(
        SHOW,
        "DRAM: unknown field 'fanout'|fanout",
        files=chip("{name: DRAM, fanout: {units: 2}}", REG),
    ),
    Row(SHOW, "shared_bw: both directions share read_bw", files=level(shared_bw="true")),
    Row(SHOW, "unknown field 'bites'.*mean 'bytes'", files=level(bites="3")),
    Row(SHOW, "unknown field 'rows'", files=chip(DRAM, GLB, REG, more="rows: 3")),
    Row(SHOW, "num_pes beside a list of levels", files=chip(DRAM, GLB, REG, more="num_pes: 3")),
    Row(SHOW, "simd_lanes beside a list", files=chip(DRAM, GLB, REG, more="simd_lanes: 2")),
    Row(SHOW, "array beside a list", files=chip(DRAM, GLB, REG, more="array: [2, 3]")),
    Row(SHOW, "unknown field 'array'", files=level(array="[2, 3]")),
    Row(
        SHOW,
        "psum: got 8, expected at least bits.output=16",
        files=chip(DRAM, GLB, REG, more="bits: {output: 16, psum: 8}"),
    ),
    Row(SHOW, "bits.input: got 0|bits.input", files=chip(DRAM, REG, more="bits: {input: 0}")),
    Row(SHOW, "lanes end the list", files=chip(DRAM, "{lanes: {units: 4}}", REG)),
    Row(SHOW, "lanes.units: got 0", files=chip(DRAM, REG, "{lanes: {units: 0}}")),
    Row(SHOW, "lanes.any: got False", files=chip(DRAM, REG, "{lanes: {units: 4, any: false}}")),
    Row(SHOW, r"levels\[1\]: expected the fields", files=chip(DRAM, "7", REG)),
    Row(SHOW, "c.yaml", files={"c.yaml": ""}),
    Row(SHOW, "c.yaml", files={"c.yaml": "levels: ["}),
    Row("mapper accelerators nosuch.yaml", "nosuch.yaml"),
    Row("mapper accelerators egde", "mean 'edge'"),
    Row("mapper accelerators --set levels.L2.bytes=3", "--set needs NAME or FILE"),
    Row("mapper accelerators --levels", "--levels belongs to --template"),
    Row("mapper accelerators edge --set levels.L3.bytes=3", "unknown field 'L3'"),
    Row("mapper accelerators edge --set levels.L2.bites=3", "unknown field 'bites'.*'bytes'"),
    Row("mapper accelerators edge --set levels.L2.bytes", "expected PATH=VALUE"),
    Row("mapper accelerators edge --set num_pes=[1", "expected a value as YAML"),
    Row(
        f"{SHOW} --set levels.Glb.bytes=3",
        "no level 'Glb'; expected one of",
        files=GOOD,
    ),
    Row(f"{SHOW} --set levels.GLB=3", "expected a field of a level", files=GOOD),
    Row(f"{SHOW} --set levels.GLB.bytes=none", "levels.GLB: bytes: got 'none'", files=GOOD),
]
MAPPINGS = [
    Row(EVALUATE, "version: got 2, expected 1; a later version", files=mapping(G, R, version="2")),
    Row(EVALUATE, "version: got '1'", files=mapping(G, R, version="'1'")),
    Row(EVALUATE, "an entry for each level of the chip.*GLB, Reg", files=mapping(G)),
    Row(EVALUATE, "an entry for each level", files=mapping(R, G)),
    Row(EVALUATE, "GLB stands 4 times, expected at most 3", files=mapping(G, G, G, G, R)),
    Row(EVALUATE, "got 'Glb', expected one of", files=mapping(entry("Glb"), R)),
    Row(EVALUATE, "keeps missing; GLB stands more than once", files=mapping(entry("GLB"), G, R)),
    Row(EVALUATE, "order: got 'KCYXR', expected a permutation",
        files=mapping(G, entry("Reg", order="KCYXR"))),
    Row(EVALUATE, "order: got 7", files=mapping(G, entry("Reg", order="7"))),
    Row(EVALUATE, "tiles: got 'Q'", files=mapping(G, entry("Reg", tiles="{Q: 1}"))),
    Row(EVALUATE, "tiles.K: got 0", files=mapping(G, entry("Reg", tiles="{K: 0}"))),
    Row(EVALUATE, "tiles.K: got nan", files=mapping(G, entry("Reg", tiles="{K: .nan}"))),
    Row(EVALUATE, "tiles: got 3", files=mapping(G, entry("Reg", tiles="3"))),
    Row(EVALUATE, "keeps: got.*but Reg holds|keeps", files=mapping(
        G, entry("Reg", keeps="[inputs]"))),
    Row(EVALUATE, "input is kept nowhere", files=mapping(
        entry("GLB", keeps="[filter, output]"), entry("Reg", keeps="[output]"))),
    Row(EVALUATE, "GLB keeps input in two entries", files=mapping(
        entry("GLB", keeps="[input]"), entry("GLB", keeps="[input, filter]"), R)),
    Row(EVALUATE, "units: got 9, expected at most 4", files=mapping(
        entry("GLB", parallel="[{dim: K, units: 9}]"), R)),
    Row(EVALUATE, "axis: got 2, expected 0 to 1", files=mapping(
        entry("GLB", parallel="[{dim: K, axis: 2}]"), R)),
    Row(EVALUATE, "dim: got 'Y', expected one of K, C", files=mapping(
        entry("GLB", parallel="[{dim: Y}]"), R)),
    Row(EVALUATE, "units: got 0", files=mapping(
        entry("GLB", parallel="[{dim: K, units: 0}]"), R)),
    Row(EVALUATE, "the level feeds one unit", files=mapping(G, entry(
        "Reg", parallel="[{dim: K, units: 1}]"))),
    Row(EVALUATE, "parallel: got 'K', expected a list", files=mapping(
        entry("GLB", parallel="K"), R)),
    Row(EVALUATE, "unknown field 'unit'.*mean 'units'", files=mapping(
        entry("GLB", parallel="[{dim: K, unit: 2}]"), R)),
    Row(EVALUATE, "unknown field 'tile'.*mean 'tiles'", files=mapping(
        G, entry("Reg", tile="{K: 1}"))),
    Row(EVALUATE, "m.yaml: mapping.levels", files={**GOOD, "m.yaml": "levels: []"}),
    Row(EVALUATE, "m.yaml: empty", files={**GOOD, "m.yaml": ""}),
    Row(EVALUATE, "two levels, but the chip is a list", files={
        **GOOD, "m.yaml": "{orders: [KCYXRS, KCYXRS], parallel: [K, C], tiles: [{}, {}], "
                          "cluster_size: 2}"}),
    Row(f"mapper evaluate {LAYER} -a edge --mapping m.yaml", "the chip has no list of levels",
        files=mapping(G, R)),
    Row(f"{EVALUATE} --cost-model maestro", "'maestro' knows chips of two levels",
        files=mapping(G, R)),
    Row(f"{EVALUATE} --cost-model exact:energy=maestro", "energy=maestro prices chips of L2",
        files=mapping(G, R)),
    Row(f"{EVALUATE} --l1-bytes 5", "--l1-bytes: the levels of c.yaml are a list.*--set levels.Reg",
        files=mapping(G, R)),
]  # fmt: skip
ROWS = CHIPS + MAPPINGS
