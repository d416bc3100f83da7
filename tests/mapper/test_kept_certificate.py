"""Certificates of tensors that stay: their bound holds, and no lie passes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cost_models import Accelerator, Chain, Mapping
from layers import TENSORS, Layer, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper import ProblemSpec
from mapper.certificate.certificate_file import Certificate
from mapper.certificate.kept_bound import BoundLine, KeptBound, least_above
from mapper.certificate.kept_certificate import (
    KeptCertificate,
    KeptTerms,
    PartTerms,
    read_kept,
    write_kept,
)
from mapper.certificate.kept_checker import bounds_of, check_kept, groups_of, placement_of
from mapper.certificate.kept_making import make_kept
from mapper.commands.certifying import proven_again
from mapper.fusing.fused_network import FusedProblem
from mapper.staying.kept_network import KeptNetwork, keep_network
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import NetworkResult
from mapper.staying.placement import Placement
from mapper.staying.rooms import rooms_of
from mapper.staying.shape_facts import ENERGY, LATENCY, SumWeights
from mapper.staying.stay_proof import StayProof, StaySetting
from tests.mapper.certificates import (
    Lies,
    assert_refused,
    changed,
    edit,
    in_problem,
    read_again,
    scaled,
)
from tests.mapper.commands import json_of, printed
from tests.mapper.network_brute import NetworkBrute, Points, brute_of, prove_here
from tests.mapper.small_networks import CHAIN, NET
from tests.mapper.test_staying import DEEP, chain

pytestmark = pytest.mark.usefixtures("quick_proofs")


def certificate_of(
    graph: NetworkGraph,
    setting: StaySetting,
    objective: str,
    counted: bool = False,
    fused: bool = False,
) -> tuple[KeptNetwork, KeptCertificate]:
    """A network's answer, and its certificate."""
    proved: list[tuple[StayProof, Any]] = []

    def run(proofs: Sequence[StayProof]) -> list[Any]:
        told = prove_here(proofs)
        proved.extend(zip(proofs, told, strict=True))
        return told

    problem = NetworkProblem(graph, setting, run, counted, 1e-9)
    kept = keep_network("mine", problem, objective, fused=FusedProblem if fused else None)
    spec = spec_of(setting, graph.layers[0].renamed("one"))
    return kept, make_kept(kept, spec, proved, proven_again)


def spec_of(setting: StaySetting, layer: Any) -> ProblemSpec:
    chip, options, space = setting.chip, dict(setting.options), dict(setting.space)
    return ProblemSpec(layer, "one", chip, "mine", "energy", "exact", options, space)


@cache
def random_one(seed: int, objective: str) -> tuple[KeptNetwork, KeptCertificate]:
    """A random network's answer, and its certificate."""
    graph, setting, counted, _ = brute_of(seed)
    return certificate_of(graph, setting, objective, counted)


@pytest.fixture
def good() -> KeptCertificate:
    """Six nodes, of which three tensors stay."""
    return random_one(2, "edp")[1]


OBJECTIVES: dict[str, Callable[[float, float], float]] = {
    "latency": lambda energy, latency: latency,
    "energy": lambda energy, latency: energy,
    "edp": lambda energy, latency: energy * latency,
}


def assert_optimal(
    found: KeptCertificate, answer: NetworkResult, best: Points, gap: float = 0.0
) -> None:
    """Bound and value are the answer's, around the least of all points; bounds of sums hold."""
    least = min(OBJECTIVES[found.objective](*one) for one in best)
    sums = [sum(getattr(step, name) for step in answer.steps) for name in ("energy", "latency")]
    assert sums == pytest.approx([answer.energy, answer.latency])
    assert OBJECTIVES[found.objective](*sums) == pytest.approx(least, rel=1e-9)
    assert found.value == answer.value == pytest.approx(least, rel=1e-9)
    assert found.bound == pytest.approx(answer.bound, rel=1e-9)
    assert least / (1 + gap) * (1 - 1e-8) <= found.bound <= least * (1 + 1e-9)
    placement = placement_of(found)
    bounds = bounds_of(found, placement, groups_of(found, placement))
    for weights in (ENERGY, LATENCY, SumWeights(1.0, 2.0), SumWeights(1.0, 0.01)):
        assert bounds.sum(weights) <= min(weights.of(*one) for one in best) * (1 + 1e-9)


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_its_bound_is_the_optimum_of_all_choices_and_mappings(seed: int) -> None:
    for objective in OBJECTIVES:
        kept, found = random_one(seed, objective)
        assert_optimal(found, kept.keep, brute_of(seed)[3])
        assert kept.keep.gap == 0


def test_what_is_ahead_of_sets_that_are_left_out_has_all_room() -> None:
    """Parts without a mapping in one byte say nothing of nodes with more."""
    graph, setting, counted, points = brute_of(2)
    terms = KeptTerms.of([spec_of(setting, one).complete() for one in graph.layers])
    placement = Placement(graph, setting.chip, setting.options, counted)
    none = [(PartTerms(one.renamed(""), frozenset(TENSORS), 1.0, ENERGY), math.inf)
            for one in graph.layers]  # fmt: skip
    ahead = KeptBound(placement, terms, none)._ahead(ENERGY)
    assert 0 < ahead[0] <= min(energy for energy, _ in points)


@pytest.mark.parametrize("seed", range(5))
def test_a_sum_above_a_product_is_that_of_its_lowest_point(seed: int) -> None:
    rng = np.random.default_rng([46, seed])
    product, energy, latency, price = rng.uniform(0.1, 4.0, 4).tolist()
    lines = [BoundLine(ENERGY, energy), BoundLine(LATENCY, latency), BoundLine(ENERGY, 0.01)]
    times = np.linspace(latency, latency + 20, 200_001)
    points = np.maximum(product / times, energy) + price * times
    least = least_above(product, lines, SumWeights(1.0, price))
    assert least == pytest.approx(points.min(), rel=1e-6)
    assert least_above(0.0, lines, SumWeights(1.0, price)) == 0.0
    assert least_above(math.inf, lines, SumWeights(1.0, price)) == math.inf


TWO_LEVELS = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({"K": 1}, {"K": 1}), 1)
Change = Callable[[KeptCertificate], KeptCertificate]


def part(change: Callable[[Certificate], Certificate], at: int = 0) -> Change:
    """Change a part."""
    return lambda c: replace(c, parts=(*c.parts[:at], change(c.parts[at]), *c.parts[at + 1 :]))


def problem(**changes: Any) -> Change:
    """Change a part's problem: the second one's."""
    return part(in_problem(**changes), 1)


def options(**more: Any) -> Change:
    """Change a part's cost model."""
    return part(
        lambda p: in_problem(cost_model_options={**p.problem.cost_model_options, **more})(p), 1
    )


def in_all(change: Callable[[Certificate], Certificate]) -> Change:
    """Change every part alike."""
    return lambda c: replace(c, parts=tuple(map(change, c.parts)))


def of_all(**changes: Any) -> Change:
    """Change the problem of every part alike."""
    return in_all(in_problem(**changes))


def chip_of_all(**changes: Any) -> Change:
    """Change the chip of every part alike."""
    return lambda c: of_all(accelerator=replace(c.parts[0].problem.accelerator, **changes))(c)


LIES: Lies = {
    "a lower value": (scaled(value=0.9), "value: .* the schedule comes to"),
    "a lower value and bound": (scaled(value=0.5, bound=0.5), "value: .*the schedule comes"),
    "a bound above the value": (lambda c: replace(c, bound=c.value * 1.1), "is above the value"),
    "another objective": (changed(objective="energy"), "value: "),
    "no prices": (changed(prices=()), "bound: .* the parts' come to"),
    "a price that overflows": (changed(prices=(1e308,)), "prices: got 1e.308 nJ"),
    "a price that is next to nothing": (changed(prices=(1e-300,)), "prices: got 1e-300 nJ"),
    "other prices": (changed(prices=(1e-6,)), "bound: .* the parts' come to"),
    "passes are counted, or not": (lambda c: replace(c, counted=not c.counted), "value: |bound: "),
    "less stays": (lambda c: replace(c, stays=c.stays[1:]), "value: |mappings: "),
    "a tensor stays twice": (scaled(stays=2), "a tensor is named twice"),
    "what may not stay does": (changed(stays=("x",)), "'x' is no tensor that may"),
    "the last tensor stays": (
        lambda c: replace(c, stays=(*c.stays, c.graph.nodes[-1].name)), "is no tensor that may stay"
    ),
    "a mapping left out": (lambda c: replace(c, mappings=c.mappings[1:]), "the network has 4 lay"),
    "a mapping too many": (
        lambda c: replace(c, mappings=(*c.mappings, c.mappings[0])), "the network has 4 layers"
    ),
    "mappings swapped": (lambda c: replace(c, mappings=c.mappings[::-1]), "mappings: |value: "),
    "a layer left out": (
        lambda c: replace(c, graph=replace(c.graph, nodes=c.graph.nodes[:-1])),
        "shape-1: the network has no layer",
    ),
    "a network of the zoo": (changed(network="mlp"), "it is not mlp of the zoo"),
    "parts left out": (lambda c: replace(c, parts=c.parts[:1]), "bound: .* the parts' come to"),
    "all parts but the last left out": (
        lambda c: replace(c, parts=c.parts[-1:]), "bound: .* the parts' come to"
    ),
    "bounds swapped": (
        lambda c: replace(c, parts=(replace(c.parts[0], bound=c.parts[1].bound),
                                    replace(c.parts[1], bound=c.parts[0].bound), *c.parts[2:])),
        "bound: |shape-",
    ),
    "trees swapped": (
        lambda c: replace(c, parts=(c.parts[0].with_tree(c.parts[-1].tree), *c.parts[1:])),
        "shape-1: ",
    ),
    "a part's bound raised": (part(scaled(bound=1.01)), "shape-1: "),
    "a part without a mapping": (
        part(lambda p: replace(p, mapping=None, value=math.inf, bound=math.inf)), "shape-1: |bound"
    ),
    "a part's chip": (
        lambda c: problem(accelerator=replace(c.parts[0].problem.accelerator, noc_bw=64))(c),
        "shape-2: its accelerator is not that",
    ),
    "the chip of all parts": (chip_of_all(l2_bytes=4096), "bound: |value: |mappings: |shape-"),
    "a chip too small": (chip_of_all(l2_bytes=8), "may stay on this chip|mappings: |stays: "),
    "a part's room": (problem(limits={"max_l2_bytes": 1.0}), "shape-2: |bound: "),
    "a part's other limit": (problem(limits={"max_area_um2": 1.0}), "shape-2: its limits is not"),
    "a part's objective": (problem(objective="power"), "shape-2: its objective is not that"),
    "a part's resident tensors": (options(resident="input+filter+output"), "shape-2: |bound: "),
    "a resident that is none": (options(resident="weights"), "its cost_model_options is not that"),
    "a part's price": (options(cycle_nj=1e9), "shape-2: |bound: "),
    "a price that is no number": (options(cycle_nj="much"), "could not convert|shape-2: "),
    "a part's options": (options(double_buffer=7.5), "its cost_model_options is not that"),
    "a part's space": (problem(space={"tiles": "all"}), "shape-2: its space is not that"),
    "a full space": (
        lambda c: of_all(space={**c.parts[0].problem.space, "full": True})(c), "its space is full"
    ),
    "another model": (of_all(cost_model="maestro"), "the cost model exact"),
    "a part of another layer": (
        lambda c: problem(layer=replace(c.parts[1].problem.layer, K=7))(c),
        "the network has no layer of its shape",
    ),
}  # fmt: skip


def test_products_may_be_spread_over_heads(tmp_path: Path) -> None:
    """The first layer has no heads; a later one has, and the certificate is of its whole space."""
    graph = GraphBuilder()
    graph.mac(Layer.gemm("one", M=2, N=2, K=2), graph.source("x", (2, 2)))
    heads = [graph.source(name, (4, 1, 1)) for name in "qk"]
    graph.mac(Layer.gemm("heads", M=1, N=1, K=1, batch=4), *heads)
    setting = StaySetting(Accelerator(4, 64, 64, 8, 8), space={"tiles": "divisors"})
    found = certificate_of(graph.graph(), setting, "latency")[1]
    assert [one.problem.space["parallel"] for one in found.parts] == ["KCYX", "KCYXN"]
    assert found.terms.plain.space["parallel"] == "KCYXN"
    assert "N" in found.mappings[1].parallel
    check_kept(read_again(write_kept, read_kept, found, tmp_path))
    assert_refused(
        check_kept,
        (part(in_problem(space=found.parts[1].problem.space | {"parallel": "KN"}), 1),
         "shape-2: its space is not that"),
        found,
    )  # fmt: skip
    only = in_problem(space=found.parts[1].problem.space | {"parallel": "KCYX"})
    assert_refused(check_kept, (part(only, 1), "mappings: of 'heads': "), found)


def test_a_list_of_levels_has_one(tmp_path: Path) -> None:
    setting = StaySetting(Chain.from_dict(DEEP), space={"tiles": "divisors"})
    graph = chain(rows=1).graph()
    assert [room.tensors for room in rooms_of(graph, setting.chip)] == [("l0",), ("l1",)]
    best = NetworkBrute(graph, setting).best()
    for objective in ("latency", "edp"):
        kept, found = certificate_of(graph, setting, objective)
        assert found.stays == ("l0", "l1")
        assert kept.keep.value < kept.none.value
        assert_optimal(found, kept.keep, best, gap=0.01)
    again = read_again(write_kept, read_kept, found, tmp_path)
    assert len(check_kept(again)) == len(found.parts) > 0
    assert_refused(check_kept, LIES["less stays"], again)


def test_it_holds_and_a_file_keeps_it_bit_by_bit(good: KeptCertificate, tmp_path: Path) -> None:
    assert len(good.stays) == 3
    again = read_again(write_kept, read_kept, good, tmp_path)
    assert again.graph == good.graph
    assert len(check_kept(again)) == len(good.parts)


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: KeptCertificate) -> None:
    assert_refused(check_kept, LIES[lie], good)


@pytest.mark.parametrize(
    ("text", "options"), [(NET, "--fuse keep"), (CHAIN, "--fuse tiles --l2-bytes 2000")]
)
def test_the_command_line_writes_and_checks_them(folder: Path, text: str, options: str) -> None:
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    search = f"search --network net.yaml --workers 1 -o energy {options}"
    said = json_of(f"{search} --certificate net.cert")
    answer = said["keep" if text is NET else "tiles"]
    found = json_of("validate --certificate net.cert")
    assert found["holds"]
    assert found["value"] == answer["value"]
    assert found["bound"] == pytest.approx(answer["bound"], rel=1e-9)
    assert found["stays"] == [stay["tensors"][0] for stay in said["stays"]]
    if text is NET:
        wrong, says = {"stays": ["a"]}, "✗"
    else:
        (one,) = found["groups"]
        assert (one["first"], one["last"]) == ("wide", "narrow")
        edit(folder / "net.cert", "kept.json", groups=[one | {"halo": ["some", "again"]}])
        printed("validate --certificate net.cert", code=2)
        wrong, says = {"groups": [one | {"keys": 5}]}, "keys: got 5"
    edit(folder / "net.cert", "kept.json", **wrong)
    assert says in printed("validate --certificate net.cert", code=1)
