"""``mapper space``: exact sizes, and the paper's table."""

import json
from functools import partial

import layers
from tests.mapper.commands import said

space = partial(said, "space")


def test_a_network_has_a_row_a_layer_and_options_change_it() -> None:
    plain = json.loads(space("--network", "mlp", "--json")[1])["layers"]
    fewer = json.loads(space("--network", "mlp", "--space", "tiles=divisors", "--json")[1])
    assert [row["layer"] for row in plain] == [layer.name for layer in layers.network("mlp")]
    for row, other in zip(plain, fewer["layers"], strict=True):
        assert other["map_space"] < row["map_space"]


def test_the_table_of_the_paper_stands_below() -> None:
    code, out, _ = space()
    assert code == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert lines["linear"][-2:] == ["3.60e4", "4.66e13"]
    assert lines["attention"][-2:] == ["7.20e8", "3.73e26"]
    assert lines["convolution"][-2:] == ["1.05e13", "1.18e39"]
