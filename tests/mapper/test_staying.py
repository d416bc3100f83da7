"""Tensors that stay: networks' optima beside brute force, rooms, schedules and lines."""

import math
from dataclasses import replace
from itertools import combinations

import pytest

import layers
from cost_models import CHAINS, Accelerator, chip_from
from cost_models import load_chip as chip_of
from layers import Layer
from layers.graph_builder import GraphBuilder
from mapper.staying.filter_costs import FilterCosts
from mapper.staying.filter_sets import FilterSearch, RepeatedProblem
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.rooms import TensorRoom, rooms_of
from mapper.staying.shape_facts import (
    ENERGY,
    CostLine,
    KnownMapping,
    ShapeFacts,
    SumWeights,
)
from mapper.staying.stay_proof import StaySetting
from mapper.staying.stay_schedule import schedule
from marl_mapper import map_network
from tests.mapper.network_brute import NetworkBrute, beside_brute, brute_of, prove_here
from tests.mapper.small_networks import small

pytestmark = pytest.mark.usefixtures("quick_proofs")


@pytest.mark.parametrize("seed", [0, 6, 7])
def test_networks_are_as_good_as_by_brute_force(seed: int) -> None:
    graph, setting, counted, best = brute_of(seed)
    net = NetworkProblem(graph, setting, prove_here, counted)
    for place, (found, least) in enumerate(beside_brute(net, best)):
        figures = found.latency, found.energy, found.energy * found.latency
        assert (found.value, figures[place]) == pytest.approx((least, least), rel=1e-9)
        assert found.gap == 0
        for step in found.steps:
            needs = step.known.needs if step.known else 0
            assert step.taken + needs <= (setting.two_levels.l2_bytes or 0)


def chain(*adds: int, rows: int = 4) -> GraphBuilder:
    """Convolutions of equal shapes in a row; `adds` say which are followed by a residual add."""
    graph = GraphBuilder()
    at = first = graph.source("x", (1, 2, rows, 1))
    for number in range(3):
        at = graph.mac(Layer(f"l{number}", "CONV", 2, 2, rows, 1, 1, 1), at)
        if number in adds:
            at = graph.add(f"add{number}", at, first)
        first = at if number == 0 else first
    return graph


@pytest.mark.parametrize("seed", [2, 9])
def test_filters_stay_over_several_inputs_as_by_brute_force(seed: int) -> None:
    graph, setting, counted = small(seed)
    net = RepeatedProblem(graph, setting, prove_here, counted, inputs=4)
    best = NetworkBrute(graph, setting, counted, inputs=4).best()
    for found, least in beside_brute(net, best):
        assert found.value == pytest.approx(least, rel=1e-9)
        assert found.gap == 0


def test_filters_that_do_not_all_fit_are_bounded_by_a_price_of_room() -> None:
    """Two of three filters fit: the bound of all sets is the best one's cost."""
    nodes = GraphBuilder()
    at = nodes.source("x", (4, 4))
    for number in range(3):
        at = nodes.mac(Layer.gemm(f"l{number}", M=4, N=4, K=4), at)
    chip = Accelerator(4, 64, 40, 4, 1)
    costs = FilterCosts(nodes.graph(), StaySetting(chip), False, {}, 10)
    filters, found = FilterSearch(costs, ENERGY, False, 0.0).best()
    assert found.bound == pytest.approx(found.value, rel=1e-9)
    assert costs.bits(filters) <= costs.capacity < costs.bits(costs.filters)
    sets = [frozenset(some) for n in range(4) for some in combinations(costs.filters, n)]
    fitting = [one for one in sets if costs.bits(one) <= costs.capacity]
    search = FilterSearch(costs, ENERGY, False, 0.0)
    least = min(search.whole(one).value for one in fitting)
    assert found.value == pytest.approx(least, rel=1e-9)


def test_a_node_that_reads_last_writes_in_the_place_of_what_it_reads() -> None:
    chip = Accelerator(4, 64, 64)
    rooms = rooms_of(chain(1).graph(), chip)
    assert [(room.tensors, room.first, room.last, room.bits) for room in rooms] == [
        (("l0",), 0, 2, 8 * 8),
        (("l1", "add1"), 1, 3, 8 * 8),
    ]
    twice = chain(1)
    twice.results.append("add1")
    assert {room.tensors for room in rooms_of(twice.graph(), chip)} == {("l0",), ("l1",)}
    assert rooms_of(chain(1).graph(), replace(chip, l2_bytes=7)) == ()
    assert rooms_of(chain(1).graph(), chip_of("eyeriss")) == ()  # filters pass its L2
    keys = GraphBuilder()
    filters = keys.mac(Layer.gemm("keys", M=4, N=4, K=4), keys.source("x", (4, 4)))
    keys.mac(Layer.gemm("scores", M=4, N=4, K=4), "x", filters)
    keys.mac(Layer.gemm("last", M=4, N=4, K=4), keys.norm("norm", filters))
    deep = rooms_of(keys.graph(), chip_of("simba"))  # filters are not in its global buffer
    assert [room.tensors for room in deep] == [("norm",)]
    wide = replace(chip, widths=chip_of("edge").widths._replace(psum=24))
    room = next(one for one in rooms_of(chain().graph(), wide) if one.tensors == ("l0",))
    assert [room.taken(place) for place in range(3)] == [8 * 24, 8 * 8, 0]  # sums are wider


def test_too_many_sets_leave_a_bound() -> None:
    rooms = [TensorRoom((str(n),), n, 30, 8, 8) for n in range(15)]

    def cost(place: int, taken: frozenset[int]) -> float:
        return 10.0 - len(taken) / 8 + (len(taken) % 3) * 0.01

    found = schedule(31, rooms, math.inf, cost, lambda place: 8.0)
    assert found.bound <= found.value
    few = schedule(31, rooms[:8], math.inf, cost, lambda place: 8.0)
    assert few.bound == few.value
    none = schedule(31, rooms, 0, cost, lambda place: 8.0)
    assert none.value == pytest.approx(310.0)
    assert set(none.stays) == {frozenset()}


def test_what_nodes_ahead_cost_at_least_is_not_that_of_little_room() -> None:
    """A layer between tensors that stay has no mapping in one byte; it has some elsewhere."""
    graph = chain().graph()
    net = NetworkProblem(graph, StaySetting(Accelerator(4, 64, 64)), prove_here)
    least = net.costs.least(1, ENERGY)
    both = frozenset({"input", "output"})
    facts = net.costs.facts_of(graph.layers[1].renamed(""), both, ENERGY)
    facts.bound(both, CostLine(1.0, ENERGY, math.inf))
    assert 0 < net.costs.least(1, ENERGY) == least


def test_lines_hold_between_them_and_for_less() -> None:
    facts, some = ShapeFacts(), frozenset({"input"})
    facts.bound(some, CostLine(100, SumWeights(1, 0), 5.0))
    facts.bound(some, CostLine(100, SumWeights(0, 1), 7.0))
    assert facts.lower(some, 100, SumWeights(2, 3)) == pytest.approx(31)
    facts.bound(some, CostLine(50, SumWeights(1, 1), 20.0))
    assert facts.lower(some, 50, SumWeights(1, 2)) == pytest.approx(27)
    assert facts.lower(some, 51, SumWeights(1, 2)) == pytest.approx(19)
    assert facts.lower(frozenset(), 10, SumWeights(1, 1)) == pytest.approx(20)
    assert facts.lower(frozenset({"output"}), 10, SumWeights(1, 1)) == 0
    facts.add(some, KnownMapping(9, 9, 60, 0, None))
    assert facts.upper(some, 60, SumWeights(1, 1)) == 18
    assert facts.upper(some, 59, SumWeights(1, 1)) == math.inf


def test_a_gap_is_kept_and_passes_are_counted() -> None:
    graph = layers.graph_of("mlp")
    chip = chip_of("edge")
    exact = NetworkProblem(graph, StaySetting(chip), prove_here).sum(ENERGY)
    near = NetworkProblem(graph, StaySetting(chip, gap=0.01), prove_here, gap=0.05).sum(ENERGY)
    assert exact.gap == 0
    assert near.gap <= 0.05
    assert near.bound <= exact.value <= near.value * (1 + 1e-12)
    graph = chain(1, rows=16).graph()
    free, counted = (
        NetworkProblem(graph, StaySetting(chip), prove_here, way).sum(ENERGY, stay=False)
        for way in (False, True)
    )
    add = next(step for step in counted.steps if step.node.name == "add1")
    assert (add.dram, add.latency) == (3 * 32, 64 // 16)  # two read, at 16 bytes a cycle
    assert counted.value == pytest.approx(free.value + add.energy)


def test_a_tensor_that_fills_l2_leaves_no_mapping() -> None:
    nodes = GraphBuilder()
    at = nodes.source("x", (64, 32))
    for number, (wide, inner) in enumerate(((64, 32), (32, 64))):
        at = nodes.mac(Layer.gemm(f"product{number}", M=64, N=wide, K=inner), at)
    chip = replace(chip_of("edge"), l2_bytes=4096)  # what the first product writes
    found = map_network(nodes.graph(), chip, "energy")
    assert found.keep.energy == found.none.energy
    assert not found.staying


DEEP = {
    "levels": [
        {"name": "DRAM", "read_bw": 16, "write_bw": 16},
        {
            "name": "Glb", "bytes": 40, "holds": ["input", "output"], "double_buffer": False,
            "read_bw": 32, "write_bw": 32, "fanout": {"axes": [2], "dims": "K"},
        },
        {"name": "Weights", "bytes": 4, "holds": ["filter"], "double_buffer": False},
        {"name": "Sums", "bytes": 4, "holds": ["output"], "double_buffer": False},
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", ["edge", *CHAINS])
def test_bytes_over_drams_boundary_are_those_that_its_energy_is_paid_for(name: str) -> None:
    fields = chip_of(name).to_dict() if name in CHAINS else {"num_pes": 16, "levels": {"DRAM": {}}}
    dram = fields["levels"][0] if name in CHAINS else fields["levels"]["DRAM"]
    dram |= {"read_pj": 1000, "write_pj": 1000}  # 1 nJ a byte
    fields["bits"] = {"input": 8, "filter": 4, "output": 8, "psum": 24}
    setting = StaySetting(chip_from(fields), {"double_buffer": False})
    layer = Layer("tiny", "CONV", 6, 5, 6, 6, 3, 3)
    problem = setting.problem(layer, frozenset(), math.inf, ENERGY)
    looked, spilled = problem.look(problem.space.sample(60, 0)), 0
    for row in (int(n) for n in looked.feasible.nonzero()[0]):
        cost, mapping = looked.costs[row], looked.mappings[row]
        known = setting.known(layer, frozenset(), mapping)
        assert known.dram == pytest.approx(cost.levels["DRAM"].energy_nj, rel=1e-12)
        spilled += cost.accesses["output"]["dram_read"] > 0
    assert spilled > 2
