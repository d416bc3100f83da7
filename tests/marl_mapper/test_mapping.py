"""The library's calls agree with the packages below, and its results show themselves."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import baselines
import marl_mapper
from cost_models import Accelerator, Cost, compare, load
from layers import Layer
from maestro_env import Problem

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


def test_a_layer_is_what_the_proof_says(mapped):
    problem = Problem(TINY, "edge", "edp")
    proof = baselines.prove(problem)
    assert mapped.value == pytest.approx(proof.value)
    assert (mapped.gap, mapped.bound) == (0, mapped.value)
    cost = load("exact").evaluate(TINY, Accelerator.load("edge"), mapped.mapping)
    assert cost.latency_cycles == mapped.cost.latency_cycles
    assert "proven optimal" in str(mapped)


def test_a_model_maps_each_shape_once(mapped):
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
    again = marl_mapper.map(SMALL, chips[1], "latency", method="random", budget=64)
    assert again.value == found[-1].value


def test_a_model_without_bounds_is_searched():
    found = marl_mapper.map(TINY, cost_model="maestro", searcher={"seconds": 0.05})
    assert found.cost.feasible
    assert found.gap is None or found.gap >= 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: marl_mapper.map("mobilenetv3.2"), "not known"),
        (lambda: marl_mapper.map(3), "expected a layer"),
        (lambda: marl_mapper.map([]), "no layers"),
        (lambda: marl_mapper.map_many("resnet18"), r"expected a list: \['resnet18'\]"),
        (lambda: marl_mapper.map_many([TINY], "edge"), "chips: got 'edge'"),
        (lambda: marl_mapper.map(TINY, "egde"), "edge"),
    ],
)
def test_mistakes_are_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_notebooks_show_results_escaped(mapped):
    comparison = compare(TINY, mapped.accelerator, mapped.mapping)
    shown = [mapped.cost, mapped.mapping, mapped.result, comparison, mapped]
    for one in shown:
        assert "table" in tags_of(one._repr_html_())
    assert f"{mapped.cost.utilized_pes:,.0f}" in mapped.cost._repr_html_()
    for level in (0, 1):
        assert mapped.mapping.parallel[level] in mapped.mapping._repr_html_()
    other = marl_mapper.map(SMALL, method="random", budget=64)
    assert "<b>" not in other._repr_html_()
    assert "&lt;b&gt;small" in other._repr_html_()


def test_what_is_infeasible_says_why():
    chip = Accelerator(num_pes=4, l1_bytes=1, l2_bytes=1)
    found = marl_mapper.map(TINY, chip)
    assert found.mapping is None
    assert found.cost is None
    assert "no mapping" in str(found)
    assert "no mapping" in found._repr_html_()
    cost = load("exact").evaluate(TINY, chip, marl_mapper.map(TINY).mapping)
    assert isinstance(cost, Cost)
    assert "needs" in cost._repr_html_()
