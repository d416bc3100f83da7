"""The library's calls agree with the packages below, and its results show themselves."""

import json
import math
import runpy
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import baselines
import layers
import marl_mapper
from cost_models import Accelerator, Cost, compare, load
from layers import Layer
from maestro_env import Problem
from marl_mapper import InfeasibleError, LibraryError

TINY = Layer("tiny", "CONV", K=4, C=4, Y=6, X=6, R=3, S=3)
SMALL = Layer("<b>small</b>", "GEMM", K=8, C=8, Y=4, X=1, R=1, S=1)


@pytest.fixture(scope="module")
def mapped():
    return marl_mapper.map(TINY, "edge")


class Tags(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(html: str) -> set[str]:
    parser = Tags()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser.seen


def quick(layer, chip="edge", objective="edp"):
    """A short search."""
    return marl_mapper.map(layer, chip, objective, method="random", budget=64)


def test_a_layer_is_what_the_proof_says(mapped):
    problem = Problem(TINY, "edge", "edp")
    proof = baselines.prove(problem)
    assert mapped.value == pytest.approx(proof.value)
    assert (mapped.gap, mapped.bound) == (0, mapped.value)
    cost = load("exact").evaluate(TINY, Accelerator.load("edge"), mapped.mapping)
    assert cost.latency_cycles == mapped.cost.latency_cycles
    assert "proven optimal" in str(mapped)


def test_a_model_maps_each_shape_once(mapped):
    assert sum(quick("mlp", objective="latency").counts) == len(layers.network("mlp"))
    model = marl_mapper.map([TINY, SMALL, TINY.renamed("again")], method="ga", budget=300)
    assert (len(model), model.counts) == (2, (2, 1))
    first, second = (one.cost for one in model)
    assert model.latency_cycles == 2 * first.latency_cycles + second.latency_cycles
    assert model.energy_nj == 2 * first.energy_nj + second.energy_nj
    assert first.latency_cycles * first.energy_nj >= mapped.cost.latency_cycles * (
        mapped.cost.energy_nj * (1 - 1e-9)
    )
    assert tags_of(model._repr_html_()) >= {"table", "pre"}


def test_many_layers_on_many_chips():
    chips = ["edge", Accelerator(num_pes=4)]
    found = marl_mapper.map_many([TINY, SMALL], chips, "latency", method="random", budget=64)
    assert [(one.layer.name, one.chip) for one in found] == [
        (layer.name, chip) for layer in (TINY, SMALL) for chip in ("edge", "4 PEs")
    ]
    assert quick(SMALL, chips[1], "latency").value == found[-1].value


def test_a_model_without_bounds_is_searched():
    found = marl_mapper.map(TINY, cost_model="maestro", searcher={"seconds": 0.05})
    assert found.cost.feasible
    assert found.gap is None or found.gap >= 0


def test_notebooks_show_results_escaped(mapped):
    comparison = compare(TINY, mapped.accelerator, mapped.mapping)
    shown = [mapped.cost, mapped.mapping, mapped.result, comparison, mapped]
    for one in shown:
        assert "table" in tags_of(one._repr_html_())
    assert f"{mapped.cost.utilized_pes:,.0f}" in mapped.cost._repr_html_()
    for level in (0, 1):
        assert mapped.mapping.parallel[level] in mapped.mapping._repr_html_()
    other = quick(SMALL)._repr_html_()
    assert "<b>" not in other
    assert "&lt;b&gt;small" in other


NO_ROOM = Accelerator(num_pes=4, l1_bytes=1, l2_bytes=1)


def test_what_is_infeasible_says_why(mapped):
    with pytest.raises(InfeasibleError, match="smallest tiles L1 needs 38 B, limit 1 B") as caught:
        marl_mapper.map(TINY, NO_ROOM)
    error = caught.value
    assert (error.layer, error.chip, error.limit) == ("tiny", "4 PEs", 1)
    assert error.infeasible.demand > 1
    assert any("raise" in lever for lever in error.levers)
    with pytest.raises(InfeasibleError, match="raise max_latency_cycles"):
        marl_mapper.map(TINY, limits={"max_latency_cycles": 1.0})
    cost = load("exact").evaluate(TINY, NO_ROOM, mapped.mapping)
    assert isinstance(cost, Cost)
    assert "needs" in cost._repr_html_()


def test_many_hold_what_is_infeasible_in_its_place():
    bad, good = marl_mapper.map_many([TINY], [NO_ROOM, "edge"], method="random", budget=64)
    assert isinstance(bad, InfeasibleError)
    assert good.cost.feasible
    model = marl_mapper.map([TINY, SMALL], NO_ROOM)
    assert all(isinstance(shape, InfeasibleError) for shape in model)
    assert (model.latency_cycles, model.gap) == (math.inf, None)
    assert "no mapping" in model._repr_html_()
    assert "inf" in str(model)


def test_a_search_that_finds_nothing_says_what_to_change():
    layer = Layer("big", "CONV", K=64, C=64, Y=16, X=16, R=3, S=3)
    chip = Accelerator(num_pes=4, l1_bytes=40, l2_bytes=400)
    with pytest.raises(InfeasibleError, match="none of 1 samples is") as caught:
        marl_mapper.map(layer, chip, method="random", budget=1)
    assert caught.value.levers[0] == "raise budget"
    assert caught.value.limit in (40, 400)


def test_loops_are_the_mappings(mapped):
    assert mapped.loops == mapped.mapping.loops(TINY, mapped.accelerator.num_pes)
    deep = quick(TINY, "simba")
    assert {loop.level for loop in deep.loops} <= {"MAC", *(e.level for e in deep.mapping.entries)}
    assert len(deep.loops) == deep.nest.count("for ") + deep.nest.count("parallel ")


@pytest.mark.parametrize("chip", ["edge", "simba", ""])
def test_values_come_back(chip, mapped):
    found = quick(TINY, chip, "latency") if chip else mapped
    again = marl_mapper.Mapped.from_dict(json.loads(found.to_json()))
    for name in ("problem", "mapping", "value", "gap", "bound"):
        assert getattr(again, name) == getattr(found, name)
    assert again.cost.latency_cycles == found.cost.latency_cycles
    assert again.result.improvements == found.result.improvements
    assert again.to_dict() == found.to_dict()
    marl_mapper.validate(again)
    if not chip:
        assert again.result.proof.status == "optimal"
        assert again.result.proof.counts == mapped.result.proof.counts


def test_values_that_do_not_hold_are_refused(mapped):
    data = mapped.to_dict()
    for wrong, says in (
        ({}, "expected what Mapped.to_dict"),
        (data | {"version": 2}, "version: got 2, expected 1"),
        (data | {"value": data["value"] / 2}, "the cost model gives the mapping"),
        (data | {"action": "x"}, "invalid literal"),
        ({key: value for key, value in data.items() if key != "mapping"}, "damaged"),
    ):
        with pytest.raises(ValueError, match=says):
            marl_mapper.Mapped.from_dict(wrong)
    wrong = replace(mapped, result=replace(mapped.result, best_value=mapped.value / 2))
    with pytest.raises(LibraryError, match=r"gives .* now"):
        marl_mapper.validate(wrong)


def test_a_table_has_a_row_for_each_answer():
    pytest.importorskip("pandas")
    answers = marl_mapper.map_many([TINY], ["edge", NO_ROOM], method="random", budget=64)
    frame = marl_mapper.to_frame(answers)
    assert list(frame["layer"]) == ["tiny", "tiny"]
    assert frame["latency_cycles"][0] == answers[0].cost.latency_cycles
    assert frame["latency_cycles"].isna()[1]
    assert "smallest tiles" in frame["infeasible"][1]
    model = marl_mapper.map([TINY, TINY.renamed("b")], method="random", budget=64)
    assert list(model.to_frame()["layers"]) == [2]


def test_a_table_without_pandas_names_the_extra(monkeypatch, mapped):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LibraryError, match=r"pip install 'marl-mapper\[frame\]'"):
        marl_mapper.to_frame([mapped])


def test_calls_do_what_commands_do(mapped, tmp_path):
    texts = marl_mapper.export(mapped, "maestro", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(texts) == {"hw.m", "mapping.m"}
    assert (tmp_path / "mapping.m").read_text() == texts["mapping.m"]
    decisions = marl_mapper.explain("mobilenetv2.2", seed=1)
    assert {"cluster_size"} <= {choice.decision for choice in decisions}
    assert all(0 <= choice.probability <= 1 for choice in decisions)
    with pytest.raises(LibraryError, match="agents: got 'none'"):
        marl_mapper.explain(TINY, agents="none")
    with pytest.raises(LibraryError, match="seed: got -1"):
        marl_mapper.explain(TINY, seed=-1)
    with pytest.raises(LibraryError, match="network: got 5"):
        marl_mapper.map_network(5)
    with pytest.raises(LibraryError, match="expected a Mapped"):
        marl_mapper.export(TINY, "maestro")


def test_the_users_program_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(Path(__file__).with_name("user_program.py")))
    assert "latency" not in capsys.readouterr().err
    assert (tmp_path / "answers.db").is_file()
