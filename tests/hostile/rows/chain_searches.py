"""Searches on chips of any depth: what knows two levels alone, and what names no level."""

from tests.hostile.rows import Row, table

SEARCH = "mapper search --layer resnet18.5 -a simba"
LARGEST = "gemm:M=2147483647,N=2147483647,K=2147483647"
"""A space of 10^58 mappings."""

COMMANDS = {
    SEARCH: {
        "--method optimal --space full": "full=True; .* axis_dims=3 instead",
        "--method optimal --objective area": "area_um2 has no bounds",
        "--method optimal --cost-model exact:halo_space=tile": "has no bounds",
        "--certificate c -o area": "--certificate: area_um2 has no bounds on a chip",
        "--certificate c --space uneven": "--certificate: .*; leave uneven out",
        "--certificate c --space axis_dims=2": "--certificate: .*; leave axis_dims out",
        "--space axis_dims=5": "space.axis_dims: got 5, expected one of 1, 2, 3, 4",
        "--cost-model maestro": "'maestro' knows chips of two levels",
        "--dataflow nvdla": "space.dataflow: not on a chip that is a list of levels",
        "--space co_search=num_pes": "--sweep levels.LEVEL.fanout.units=4..16",
        "--space parallel=KC": "space.parallel: not on a chip that is a list",
        "--space paper": "a list of levels",
        "--limit max_l1_bytes=9": "expected one of .*max_bytes.GlobalBuffer",
        "--limit max_bytes.Globalbuffer=9": "mean 'max_bytes.GlobalBuffer'",
        "--l1-bytes 64": "--l1-bytes: the levels of simba are a list",
        "--set levels.PEBuffer.bytes=3": "no level 'PEBuffer'",
        "--method expert --option dataflow=nvdla": "is of chips of two levels",
    },
    "mapper": {
        "search --layer resnet18.5 -a tpu-v1-ws --method optimal": "tiles filters",
        "search -l resnet18.5 -a tpu-v1-ws --certificate c": "--certificate: the space tiles",
        "search -l resnet18.5 --space uneven --cost-model maestro": "chips of two levels",
    },
}
ROWS = [
    *table(COMMANDS),
    Row(
        f"mapper search -l {LARGEST} -a simba --method optimal",
        "has 796,108,265,857,241 vectors of tiles .* at most 4,194,304; use tiles='divisors'",
    ),
]
