"""Sweeps: ranges that hold nothing or too much, quantities without units, places, networks."""

from __future__ import annotations

from tests.hostile.rows import Row

NET = "mapper explore --network mlp"
ONE = f"{NET} --pes 16"
CHIP = f"{NET} --pes 16 -a c.yaml"
DEEP = f"{NET} -a simba"

NAN_PRICES = "{mac: .nan, l1: 1, l2: 6, dram: 200}"

ROWS = [
    Row(f"{NET} --pes 1..1000000000:1", "--pes: '1..1000000000:1' has more than 100,000 values"),
    Row(f"{NET} --l1 1..2147483647:1", "has more than 100,000 values; give a larger step"),
    Row(f"{NET} --l2 1..90000:1,100000..190000:1", "has more than 100,000 values"),
    Row(f"{NET} --noc 1..1G:3", "has more than 100,000 values"),
    Row(f"{NET} --pes 1..1000000000000:1", "--pes: got '1000000000000'"),
    Row(f"{NET} --pes 1..2:1:1", "--pes: got '1:1'"),
    Row(f"{NET} --pes 4..", "--pes: got ''"),
    Row(f"{NET} --pes ..4", "--pes: got ''"),
    Row(f"{NET} --pes ..", "--pes: got ''"),
    Row(f"{NET} --pes ,", "--pes: got ''"),
    Row(f"{NET} --pes 4,,8", "--pes: got ''"),
    Row(f"{NET} --pes -4", "--pes"),
    Row(f"{NET} --pes 1e3", "--pes: got '1e3'"),
    Row(f"{NET} --pes nan", "--pes: got 'nan'"),
    Row(f"{NET} --pes 4:2", "--pes: got '4:2'"),
    Row(f"{NET} --pes 8..16:x", "--pes: got 'x'"),
    Row(f"{NET} --pes 16 --pes many", "--pes: got 'many'"),
    Row(f"{NET} --pes ''", "--pes: got an empty word"),
    Row(f"{NET} --lanes 0", "--lanes: got '0'"),
    Row(f"{NET} --lanes 2..3:0", "--lanes: got '0'"),
    Row(f"{NET} --offchip 5..7", "holds no power of two"),
    Row(f"{NET} --l1 1T", "--l1: got '1T'"),
    Row(f"{NET} --l1 16k..1k", "runs from 16384 down to 1024"),
    Row(f"{NET} --l1 0.3k", "--l1: got '0.3k'"),
    Row(f"{NET} --l1 ٤", "--l1"),
    Row(f"{NET} --l2 2G", "--l2: got '2G'"),
    Row(f"{NET} --l2 1500M", "l2_bytes"),
    Row(f"{ONE} --seed 3 --seed x", "--seed: got 'x', the last of 2 values given"),
    Row(f"{ONE} --designs 0", "--designs: got '0'"),
    Row(f"{ONE} --designs 10000000", "--designs: got '10000000'"),
    Row(f"{ONE} --designs some", "--designs: got 'some'"),
    Row(f"{ONE} --gap -1", "--gap: got '-1'"),
    Row(f"{ONE} --gap nan", "--gap"),
    Row(f"{ONE} --timeout -1", "--timeout: got '-1'"),
    Row(f"{ONE} --timeout nan", "--timeout"),
    Row(f"{ONE} --timeout inf", "--timeout: got inf, expected a finite number"),
    Row(f"{ONE} --gap inf", "--gap: got inf"),
    Row(f"{ONE} --workers -1", "--workers: got '-1'"),
    Row(f"{ONE} -o edp,edp", "--objectives: got 'edp,edp'"),
    Row(f"{ONE} -o ,", "--objectives: got ','"),
    Row(f"{ONE} -o edp,area,power,latency", "two or three different ones"),
    Row(f"{ONE} -o edp+area", "--objectives: got 'edp.area'"),
    Row(f"{ONE} --store /proc/x.db", "/proc"),
    Row(f"{ONE} --page /proc/x.html", "/proc"),
    Row(f"{ONE} --cost-model-option energy=e.yaml", "mac: got nan", files={"e.yaml": NAN_PRICES}),
    Row(f"{ONE} --wires of", "--wires: got 'of', expected on or off. Did you mean 'off'?"),
    Row(f"{ONE} --wires", "--wires"),
    Row(f"{ONE} --set levels.L2.network.pj_per_bit=-1", "levels.L2.network.pj_per_bit: got -1"),
    Row(f"{ONE} --set levels.L2.network.pj_per_bit_mm=.nan", "pj_per_bit_mm: got nan"),
    Row(f"{ONE} --set levels.L2.network.um2_per_bits=1", "Did you mean 'um2_per_bit'?"),
    Row(f"{ONE} --set levels.L2.port_um2_per_bit=much", "levels.L2.port_um2_per_bit: got 'much'"),
    Row(f"{ONE} --set levels.L2.kind=HPP", "levels.L2.kind: got 'HPP', expected one of LSTP, HP"),
    Row(f"{ONE} --set mac.kind=int4", "mac.kind: got 'int4', expected one of aladdin, int, fp16"),
    Row(f"{DEEP} --sweep levels.WeightBuffer.fanout.network.pj_per_bit=1", "WeightBuffer"),
    Row(f"{ONE} --max-area -5mm2", "--max-area"),
    Row(f"{ONE} --max-area 0mm2", "--max-area: got '0mm2'"),
    Row(f"{ONE} --max-area nanmm2", "--max-area: got 'nanmm2'"),
    Row(f"{ONE} --max-area 5m2", "--max-area: got '5m2'"),
    Row(f"{ONE} --max-area 1e999mm2", "--max-area: got '1e999mm2'"),
    Row(f"{ONE} --max-power 5", "--max-power: got '5'"),
    Row(f"{ONE} --max-power 5kW", "--max-power: got '5kW'"),
    Row(f"{ONE} --draw ''", "--draw: got an empty word"),
    Row(f"{ONE} --draw all --draw uniformly", "mean 'uniform'"),
    Row(f"{ONE} --cost-model exat", "mean 'exact'"),
    Row(f"{ONE} --cost-model-option halo_time", "expected NAME=VALUE"),
    Row(f"{ONE} --cost-model-option halo_time=slides", "halo_time"),
    Row(f"{ONE} --plot .", "--plot"),
    Row(f"{ONE} --plot nowhere/a.pdf --csv a.cvs", "--csv a.cvs: expected a name that ends"),
    Row(f"{ONE} --csv afile/a.csv", "afile", files={"afile": ""}),
    Row(f"{ONE} --out afile", "--out afile", files={"afile": ""}),
    Row(f"{ONE} --store afile", "afile", files={"afile": "no store"}),
    Row(f"{ONE} --accelerator edgy", "mean 'edge'"),
    Row(f"{ONE} --pretrained afile", "afile", files={"afile": "no weights"}),
    Row(f"{NET} --sweep levels.L2.bytes", "--sweep 'levels.L2.bytes': expected PATH=RANGE"),
    Row(f"{NET} --sweep mac.pj=-1", "--sweep mac.pj: got '-1'"),
    Row(f"{NET} --sweep =8..16", "--sweep '=8..16': expected PATH=RANGE"),
    Row(f"{NET} --sweep levels.L2.bytes=64k..8k", "give 8k..64k"),
    Row(f"{NET} --sweep levels.L2.bytes=some", "--sweep levels.L2.bytes: got 'some'"),
    Row(f"{NET} --sweep levels.L2.bytes=1..9999999:1", "has more than 100,000 values"),
    Row(f"{NET} --sweep levels.L2.bites=8..16", "unknown field 'bites'.*'bytes'"),
    Row(f"{NET} --sweep levels.L3.bytes=8..16", "unknown field 'L3'"),
    Row(f"{NET} --sweep num_pse=8..16", "unknown field 'num_pse'.*'num_pes'"),
    Row(f"{NET} --sweep name=8..16", "--sweep name=8: name"),
    Row(f"{NET} --sweep levels.L2.holds=8..16", "holds"),
    Row(f"{NET} --pes 8,16 --sweep num_pes=32", "--sweep num_pes: is swept twice"),
    Row(f"{NET} --l2 8k --sweep levels.L2.bytes=8k", "--l2 sweeps it, too"),
    Row(f"{NET} --sweep levels.L2.read_bw=8 --sweep levels.L2.read_bw=9", "is swept twice"),
    Row(DEEP, "no range is given; sweep fields of its levels.*levels.GlobalBuffer.bytes=8k..64k"),
    Row(f"{DEEP} --pes 16", "--pes: the levels of this chip are a list.*WeightBuffer"),
    Row(f"{DEEP} --sweep levels.PEBuffer.bytes=8k..64k", "no level 'PEBuffer'; expected one of"),
    Row(f"{DEEP} --sweep levels.InputBufer.bytes=8k", "Did you mean 'InputBuffer'"),
    Row(f"{DEEP} --sweep levels.InputBuffer.byte=8k", "unknown field 'byte'.*Did you mean 'bytes'"),
    Row(f"{DEEP} --sweep levels.InputBuffer=8k", "expected a field of a level"),
    Row(
        f"{DEEP} --sweep levels.InputBuffer.bytes=0,8k",
        "--sweep levels.InputBuffer.bytes=0: levels.InputBuffer",
    ),
    Row(f"{DEEP} --sweep levels.GlobalBuffer.fanout.axes=4x4,8y8", "fanout.axes: got '8y8'"),
    Row(f"{DEEP} --sweep levels.GlobalBuffer.fanout.axes=4x4..8x8", "got '4x4..8x8'"),
    Row(f"{DEEP} --sweep levels.GlobalBuffer.fanout.axes=0x4", "axes.0"),
    Row(f"{DEEP} --sweep levels.GlobalBuffer.fanout.axes=2x2x2x2", "got 4 axes, expected 1 to 3"),
    Row(f"{DEEP} --sweep levels.AccumulationBuffer.fanout.axes=8", "got 2 entries, expected 1"),
    Row(
        f"{DEEP} --sweep levels.GlobalBuffer.fanout.units=2000000000",
        "expected a whole number of at least 1, at most 2.30",
    ),
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
    Row(
        f"{DEEP} --sweep bits.psum=24 -o edp,power --cost-model maestro",
        "knows chips of two levels",
    ),
    Row(f"{ONE} extra", "unexpected extra argument"),
    *(
        Row(f"{ONE} {words}", says, files={"a.csv": "4,4,8,8,3,3,1\n"})
        for words, says in [
            ("--fuse all", "--fuse: got 'all', expected none, keep or tiles"),
            ("--fuse tiles", "--fuse tiles: fuses layers of one chip, expected none or keep"),
            ("--passes counted", "layers are mapped alone; give --fuse keep"),
            ("--fuse keep --timeout 3", "takes no --timeout"),
            ("--fuse keep --pretrained none", "takes no --pretrained|none"),
            (
                "--fuse keep --cost-model maestro -o edp,power",
                "'maestro' does not price what moves",
            ),
        ]
    ),
    Row(
        "mapper explore --network a.csv --pes 16 --fuse keep",
        "says nothing of what each reads",
        files={"a.csv": "4,4,8,8,3,3,1\n"},
    ),
    *(
        Row(f"mapper explore --bound --network {words}", says)
        for words, says in [
            ("mlp", "--bound: over which capacities. Give --l2, such as --l2 1k..1M"),
            ("mlp --l2 0", "--l2"),
            (
                "mlp --l2 1k --pes 16",
                "--bound: takes no ranges but --l2, objectives and draws",
            ),
            ("mlp --l2 1k --gap inf", "--gap: got inf, expected a finite number"),
            ("mlp --l2 1k --timeout 5", "takes no way to judge but --gap"),
            ("mlp --l2 1k -o edp,power", "takes no ranges but --l2, objectives and draws"),
            ("mlp --l2 1k --designs 5", "takes no ranges but --l2, objectives and draws"),
            ("mlp --l2 1k --fuse keep", "takes no way to judge but --gap"),
            ("mlp --l2 1k --cost-model maestro", "takes no --cost-model"),
            ("mlp --l2 1k --cost-model-option halo_time=none", "takes no --cost-model"),
            ("mlp --l2 1k --page p.html", "takes no --page and --out"),
            ("mlp --l2 1k --plot p.gif", "--plot p.gif"),
            ("mlp --l2 1k -a simba", "--bound: expected a chip of two levels, L2 and L1"),
            ("mlpx --l2 1k", "Did you mean 'mlp'"),
            ("conv:K=0 --l2 1k", "conv:K=0"),
            ("n.yaml --l2 1k", "n.yaml"),
        ]
    ),
    Row("mapper explore --pes 16", "--network"),
    Row("mapper explore --network none.yaml --pes 16", "none.yaml"),
    Row("mapper explore --network n.yaml --pes 16", "n.yaml", files={"n.yaml": "layers: []"}),
    Row("mapper explore --network n.csv --pes 16", "n.csv", files={"n.csv": ""}),
    Row(
        CHIP,
        "levels.L2.*expected at most 1,073,741,824",
        files={"c.yaml": "{num_pes: 16, levels: {L2: {bytes: 1073741824, double_buffer: false}}}"},
    ),
    Row(CHIP, "c.yaml", files={"c.yaml": "num_pes: ["}),
]
