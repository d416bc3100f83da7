"""``mapper space``: exact sizes, and the paper's table."""

import layers
from tests.mapper.commands import json_of, printed


def test_a_network_has_a_row_a_layer_and_options_change_it() -> None:
    plain = json_of("space --network mlp")["layers"]
    fewer = json_of("space --network mlp --space tiles=divisors")["layers"]
    assert [row["layer"] for row in plain] == [layer.name for layer in layers.network("mlp")]
    for row, other in zip(plain, fewer, strict=True):
        assert other["map_space"] < row["map_space"]


def test_the_table_of_the_paper_stands_below() -> None:
    lines = {line.split()[0]: line.split() for line in printed("space").splitlines() if line}
    assert lines["linear"][-2:] == ["3.60e4", "4.66e13"]
    assert lines["attention"][-2:] == ["7.20e8", "3.73e26"]
    assert lines["convolution"][-2:] == ["1.05e13", "1.18e39"]
