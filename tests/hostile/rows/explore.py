"""Sweeps: ranges that hold nothing or too much, quantities without units, places, networks."""

from tests.hostile.rows import Row, table

NET = "mapper explore --network mlp"
ONE = f"{NET} --pes 16"
DEEP = f"{NET} -a simba"


COMMANDS = {
    NET: {
        "--pes 1..1000000000:1": "--pes: '1..1000000000:1' has more than 100,000 values",
        "--pes 1..2:1:1": "--pes: got '1:1'",
        "--l1 ٤": "--l1",
        "--l2 1500M": "l2_bytes",
        "--sweep levels.L2.bytes": "--sweep 'levels.L2.bytes': expected PATH=RANGE",
        "--sweep levels.L2.bites=8..16": "unknown field 'bites'.*'bytes'",
        "--sweep num_pse=8..16": "unknown field 'num_pse'.*'num_pes'",
        "--sweep name=8..16": "--sweep name=8: name",
        "--pes 8,16 --sweep num_pes=32": "--sweep num_pes: is swept twice",
        "--l2 8k --sweep levels.L2.bytes=8k": "--l2 sweeps it, too",
    },
    ONE: {
        "--seed 3 --seed x": "--seed: got 'x', the last of 2 values given",
        "--gap inf": "--gap: got inf",
        "-o edp+area": "--objectives: got 'edp.area'",
        "--store /proc/x.db": "/proc",
        "--wires of": "--wires: got 'of', expected on or off. Did you mean 'off'?",
        "--set levels.L2.network.pj_per_bit_mm=.nan": "pj_per_bit_mm: got nan",
        "--set levels.L2.network.um2_per_bits=1": "Did you mean 'um2_per_bit'?",
        "--max-area nanmm2": "--max-area: got 'nanmm2'",
        "--plot nowhere/a.pdf --csv a.cvs": "--csv a.cvs: expected a name that ends",
        "--fuse all": "--fuse: got 'all', expected none, keep or tiles",
        "--fuse tiles": "--fuse tiles: fuses layers of one chip, expected none or keep",
        "--passes counted": "layers are mapped alone; give --fuse keep",
        "--fuse keep --timeout 3": "takes no --timeout",
        "--fuse keep --pretrained none": "takes no --pretrained|none",
    },
    DEEP: {
        "--sweep levels.WeightBuffer.fanout.network.pj_per_bit=1": "WeightBuffer",
        "": "no range is given; sweep fields of its levels.*levels.GlobalBuffer.bytes=8k..64k",
        "--pes 16": "--pes: the levels of this chip are a list.*WeightBuffer",
        "--sweep levels.InputBufer.bytes=8k": "Did you mean 'InputBuffer'",
        "--sweep levels.InputBuffer=8k": "expected a field of a level",
        "--sweep levels.GlobalBuffer.fanout.axes=4x4,8y8": "fanout.axes: got '8y8'",
    },
    "mapper explore --bound --network": {
        "mlp": "--bound: over which capacities. Give --l2, such as --l2 1k..1M",
        "mlp --l2 1k --pes 16": "--bound: takes no ranges but --l2, objectives and draws",
        "mlp --l2 1k --fuse keep": "takes no way to judge but --gap",
        "mlp --l2 1k --cost-model-option halo_time=none": "takes no --cost-model",
        "mlp --l2 1k --plot p.gif": "--plot p.gif",
        "mlp --l2 1k -a simba": "--bound: expected a chip of two levels, L2 and L1",
    },
}
ROWS = [
    *table(COMMANDS),
    Row(f"{ONE} --csv afile/a.csv", "afile", {"afile": ""}),
    Row(f"{ONE} --pretrained afile", "afile", {"afile": "no weights"}),
    Row(
        f"{DEEP} --draw all --sweep levels.InputBuffer.bytes=1..2000:1 "
        "--sweep bits.psum=24..2000:1",
        "--draw all: 3,954,000 designs, expected at most 1,000,000; give --designs N",
    ),
    Row(
        f"{DEEP} --draw all "
        + " ".join(
            f"--sweep levels.{name}Buffer.{field}=1..100000:1"
            for name in ("Input", "Weight")
            for field in ("bytes", "read_bw")
        ),
        "1e.20 designs, expected at most 1e.15; give larger steps",
    ),
    Row("mapper explore --pes 16", "--network"),
]
