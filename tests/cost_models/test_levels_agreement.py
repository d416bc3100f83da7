"""What random nests have, and the run that compares ways of counting on them."""

import math
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import levels_agreement, nest_features
from benchmarks.nest_features import FEATURES, features
from cost_models.exact.nest import Nest, NestLevel, Window
from cost_models.exact.nest_counts import WORK, count
from cost_models.exact.records import STAMPS
from cost_models.exact.simulator import simulate
from layers import COUPLED_DIMS, LayerKind
from tests.cost_models.layer_nests import FEWEST_UNITS, MOST_UNITS, layer_nest
from tests.cost_models.nests import random_nest
from tests.cost_models.set_execution import execute


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> bool:
    """Whether a comparison of the simulator with the execution by sets found a difference."""
    few = ("--nests", "4", "--between", "simulator", "sets")
    monkeypatch.setattr(sys, "argv", ["levels_agreement", *few, *words])
    return levels_agreement.TABLE.run()


def test_what_is_known_of_earlier_nests_is_forgotten_in_time() -> None:
    nests = [random_nest(np.random.default_rng((10, number)), 3) for number in range(6)]
    right = [count(nest) for nest in nests]
    WORK.records["stamp"] = STAMPS - 3
    assert [count(nest) for nest in nests] == right
    assert WORK.records["stamp"] == 3


def test_the_kernel_equals_the_simulator_on_nests_of_every_feature() -> None:
    found: Counter[str] = Counter()
    nests = 80
    for number in range(nests):
        nest = random_nest(np.random.default_rng((9, number)), 1 + number % 5)
        counts = simulate(nest)
        assert nest_features.differing(count(nest), counts) == {}, number
        found.update(features(nest, counts))
    assert set(found) == set(FEATURES)
    assert found["at least 200 MACs"] >= nests / 2
    # of so few nests a share of 5 % may show as 2.5
    assert {name: n for name, n in found.items() if n < 0.025 * nests} == {}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_the_simulator_equals_an_execution_by_sets(depth: int) -> None:
    rng = np.random.default_rng(depth)
    for number in range(3):
        nest = random_nest(rng, depth, 400)
        assert nest_features.differing(execute(nest), simulate(nest)) == {}, number


def test_rows_lie_where_taps_do_though_padding_is_far() -> None:
    """Taps move on and outputs back, so that rows on both sides of those held are lacking."""
    tiles = [(3, 11), (3, 6), (2, 6), (2, 4)]
    levels = [NestLevel((1, 1, 1, outputs, 1, taps, 1, 1)) for outputs, taps in tiles]
    levels[-1] = replace(levels[-1], units=(1, 1, 1, 2, 1, 3, 1, 1))
    nest = Nest(
        (1, 1, 1, 3, 1, 11, 1, 1),
        tuple(levels),
        COUPLED_DIMS[LayerKind.CONV],
        (Window(), Window(stride=4, real=(0, 227))),
    )
    assert nest_features.differing(count(nest), simulate(nest)) == {}


def test_nests_of_layers_have_many_units_and_the_layers_rows() -> None:
    for number in range(10):
        nest = layer_nest(np.random.default_rng((9, number)), 1 + number % 5)
        units = math.prod(n for level in nest.levels for n in level.units)
        assert FEWEST_UNITS <= units <= MOST_UNITS
        if number % 2:
            assert nest_features.differing(count(nest), simulate(nest)) == {}, number
        assert sum(math.prod(level.units) > 1 for level in nest.levels) == 2


def test_a_difference_is_printed_and_fails(monkeypatch, capsys):
    def wrong(nest: Nest) -> dict[str, int]:
        counts = simulate(nest)
        return counts | {"macs": counts["macs"] + 1}

    monkeypatch.setitem(nest_features.COUNTERS, "sets", wrong)
    assert run(monkeypatch)
    out = capsys.readouterr().out
    assert out.startswith("seed 0, nest 0, depth 1: {'macs': (")
    assert "           4  100.0%  differ" in out.splitlines()


def test_a_kernel_is_held_against_executed_counts(tmp_path, monkeypatch, capsys):
    out = tmp_path / "nests.csv"
    assert not run(monkeypatch, "--out", str(out))
    held = ("--between", "kernel", "sets", "--against", str(out))
    assert not run(monkeypatch, *held)
    head, line = out.read_text().splitlines()
    out.write_text(f"{head}\n{line[:-1]}{9 - int(line[-1])}\n")
    assert run(monkeypatch, *held)
    assert "1 seeds differ [0]" in capsys.readouterr().out
