"""Searches on chips of any depth: what knows two levels alone, and what names no level."""

from tests.hostile.rows import Row

SEARCH = "mapper search --layer resnet18.5 -a simba"
LARGEST = "gemm:M=2147483647,N=2147483647,K=2147483647"
"""A space of 10^58 mappings."""

ROWS = [
    Row(
        f"{SEARCH} --method optimal --space full",
        "full=True; .* axis_dims=3 instead",
    ),
    Row(f"{SEARCH} --method optimal --objective area", "area_um2 has no bounds"),
    Row(f"{SEARCH} --method optimal --cost-model exact:halo_space=tile", "has no bounds"),
    Row("mapper search --layer resnet18.5 -a tpu-v1-ws --method optimal", "tiles filters"),
    Row(f"{SEARCH} --certificate c -o area", "--certificate: area_um2 has no bounds on a chip"),
    Row(f"{SEARCH} --certificate c --space uneven", "--certificate: .*; leave uneven out"),
    Row(
        "mapper search -l resnet18.5 -a tpu-v1-ws --certificate c", "--certificate: the space tiles"
    ),
    Row(
        "mapper search -l gemm:M=65536,N=65536,K=65536 -a simba --method optimal",
        "has 133,432,831 vectors of tiles .* at most 4,194,304; use tiles='divisors'",
    ),
    Row(f"mapper search -l {LARGEST} -a simba --method optimal", "vectors of tiles"),
    Row(f"{SEARCH} --certificate .", "is a folder; expected a file's name"),
    Row(f"{SEARCH} --cost-model maestro", "'maestro' knows chips of two levels"),
    Row(f"{SEARCH} --dataflow nvdla", "space.dataflow: not on a chip that is a list of levels"),
    Row(f"{SEARCH} --space co_search=num_pes", "--sweep levels.LEVEL.fanout.units=4..16"),
    Row(f"{SEARCH} --space parallel=KC", "space.parallel: not on a chip that is a list"),
    Row(f"{SEARCH} --space orders=permutation", "space.orders: not on a chip that is a list"),
    Row(f"{SEARCH} --space levels=1", "space.levels: not on a chip that is a list"),
    Row(f"{SEARCH} --space paper", "a list of levels"),
    Row(f"{SEARCH} --space uneven=7", "space.uneven: got 7"),
    Row(f"{SEARCH} --space axis_dims=4", "space.axis_dims: got 4, expected one of 1, 2, 3"),
    Row(f"{SEARCH} --certificate c --space axis_dims=2", "--certificate: .*; leave axis_dims out"),
    Row(f"{SEARCH} --space tiles=odd", "space.tiles: got 'odd'"),
    Row("mapper search -l resnet18.5 --space uneven --dataflow nvdla", "on a chip that is a list"),
    Row("mapper search -l resnet18.5 --space uneven --cost-model maestro", "chips of two levels"),
    Row(f"{SEARCH} --limit max_l1_bytes=9", "expected one of .*max_bytes.GlobalBuffer"),
    Row(f"{SEARCH} --limit max_bytes.Globalbuffer=9", "mean 'max_bytes.GlobalBuffer'"),
    Row(f"{SEARCH} --limit max_bytes.GlobalBuffer=0", "expected a number above 0"),
    Row(f"{SEARCH} --l1-bytes 64", "--l1-bytes: the levels of simba are a list"),
    Row(f"{SEARCH} --num-pes 64", "--num-pes: the levels of simba are a list"),
    Row(f"{SEARCH} --set levels.PEBuffer.bytes=3", "no level 'PEBuffer'"),
    Row(f"{SEARCH} --method expert --option dataflow=nvdla", "is of chips of two levels"),
    Row("mapper search --layer resnet18.5 -a simbaa", "mean 'simba'"),
    Row("mapper space --layer resnet18.5 -a simba --dataflow tpu", "space.dataflow: not on a chip"),
    Row(
        "mapper compare --layers resnet18.5 --methods ga -a simba --space co_search=num_pes",
        "--set",
    ),
    Row(
        "mapper compare --layers resnet18.5 --methods ga -a simba --cost-model maestro",
        "two levels",
    ),
    Row("mapper cluster --layer resnet18.5 -a simba --cost-model maestro", "knows chips of two"),
]
