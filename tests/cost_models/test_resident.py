"""Tensors that are whole in L2: counts by execution, and the same nest as an uneven one."""

from dataclasses import replace

import numpy as np
import pytest

from cost_models import Accelerator, CostModelError, Mapping, ReasonCode
from cost_models.chain.clusters import as_chain
from cost_models.exact import ExactModel, SimulatorModel
from cost_models.exact.nest import NestLevel
from cost_models.exact.simulator import UNLIMITED, simulate
from layers import Layer
from maestro_env import Problem
from tests.baselines.proofs import random_tensors
from tests.cost_models.tiny import random_case


@pytest.mark.parametrize("seed", range(30))
def test_a_resident_tensor_is_one_that_l2_holds_whole_before_it_begins(seed: int) -> None:
    """As an entry of the same memory around the others, but for its one way in and out."""
    rng = np.random.default_rng([47, seed])
    case = random_case(rng, 150)
    chip = replace(case.accelerator, l1_bytes=None, l2_bytes=None)
    model = SimulatorModel(resident=random_tensors(rng))
    nest = model.nest(case.layer, *as_chain(chip, case.mapping, case.layer))
    l2, *below = nest.levels
    home = NestLevel(nest.extents, keeps=model.residents, port=l2.port)
    rest = tuple(a and not b for a, b in zip(l2.keeps, model.residents, strict=True))
    inner = replace(l2, keeps=(rest[0], rest[1], rest[2]), joined=True)
    # the way out takes no time, so that only the first load does
    dram = replace(nest.dram, write=None)
    uneven = replace(nest, levels=(home, inner, *below), dram=dram, resident=(False, False, False))
    found, around = simulate(replace(nest, dram=dram)), simulate(uneven)
    for tensor, here in enumerate(model.residents):
        for name in (f"fill/{tensor}/{{}}", f"read/{tensor}/{{}}/{{}}", f"tiles/{tensor}/{{}}"):
            for level, q in ((3, 1), (4, 3)):
                keeper = q + 1 if q > 1 or not here else q
                inside = name.format(level + 1, keeper)
                assert found.get(name.format(level, q), 0) == around.get(inside, 0), inside
    widths = nest.widths
    loads = [found.get(f"peak/{t}/1", 0) * widths[t] for t in (0, 1) if not model.residents[t]]
    own = [around[f"fill/{t}/1"] * widths[t] for t in (0, 1) if model.residents[t]]
    rate = nest.dram.read or UNLIMITED
    first, every = -(-sum(loads) // rate), -(-(sum(loads) + sum(own)) // rate)
    assert found["stepwise"] - first == around["stepwise"] - every


def test_a_resident_tensor_that_passes_l2_is_refused_with_its_reason() -> None:
    case = random_case(np.random.default_rng(3), 150)
    mapping = replace(case.mapping, bypass=(frozenset({"input"}), frozenset()))
    cost = ExactModel(resident="input").evaluate(case.layer, case.accelerator, mapping)
    assert cost.infeasible.code is ReasonCode.REFUSED
    assert "input is resident in L2 and passes it" in cost.infeasible.message


def test_a_resident_tensor_takes_no_room_in_the_report_of_a_full_l2() -> None:
    layer, chip = Layer.gemm("tiny", M=8, N=8, K=8), Accelerator(1, 64, 100)
    whole = {"K": 8, "C": 8, "Y": 8}
    mapping = Mapping(("KCYXRS", "KCYXRS"), ("K", "Y"), (whole, dict.fromkeys(whole, 1)), 1, 1)
    held = {"": "input, filter, output", "filter": "input, output", "filter+output": "input"}
    for given in ((chip, mapping), as_chain(chip, mapping, layer)):
        for resident, names in held.items():
            found = ExactModel(resident=resident).evaluate(layer, *given).infeasible
            assert found.demand == 2 * 64 * len(names.split(","))  # two copies
            assert given[0] is chip or f"for {names}, limit 100 B" in found.message
    wide, part = replace(chip, l2_bytes=2 * 2 * 64), ExactModel(resident="filter")
    assert part.evaluate(layer, wide, mapping).feasible


def test_options_that_say_nothing_are_not_recorded() -> None:
    assert "resident" not in ExactModel().options
    assert ExactModel(resident="input").options["resident"] == "input"
    for wrong in ("inputs", "input,output", "input+input", "+input", 3):
        with pytest.raises(CostModelError, match="resident: got"):
            ExactModel(resident=wrong)
    for price in (-1.0, float("nan"), "2", True):
        with pytest.raises(CostModelError, match="cycle_nj: got"):
            ExactModel(cycle_nj=price)
    problem = Problem("mlp.2", "simba", "edp", ExactModel(cycle_nj=0.1))
    with pytest.raises(CostModelError, match=r"cycle_nj=0\.1 prices chips of L2 and L1 alone"):
        problem.look(problem.space.sample(1, 0))
    problem = Problem("mlp.2", "simba", "edp", ExactModel(resident="filter"))
    with pytest.raises(CostModelError, match="GlobalBuffer of this chip does not hold filter"):
        problem.look(problem.space.sample(1, 0))


@pytest.mark.parametrize(
    ("chip", "resident"),
    [("simba", "input"), ("eyeriss-rs", "input+output"), ("sm-a100", "output")],
)
def test_what_is_resident_on_a_list_of_levels_never_crosses_drams_boundary(chip, resident):
    found = 0
    for layer in ("conv:K=6,C=5,Y=6,X=6,R=3,S=3", "gemm:M=7,N=6,K=5"):
        problem = Problem(layer, chip, "energy", ExactModel(resident=resident))
        looked = problem.look(problem.space.sample(60, 1))
        bounds, plain = problem.figure_bounds, ExactModel()
        for row in np.flatnonzero(looked.feasible)[:2]:
            mapping = looked.mappings[int(row)]
            given = (problem.layer, problem.accelerator, mapping)
            cost, truth = (
                model(resident=resident).evaluate(*given) for model in (ExactModel, SimulatorModel)
            )
            assert cost.energy_nj == truth.energy_nj == looked.costs.energy_nj[row]
            assert cost.latency_cycles == truth.latency_cycles == looked.costs.latency_cycles[row]
            for tensor in resident.split("+"):
                assert cost.accesses[tensor]["dram_read"] == 0
                assert cost.accesses[tensor]["dram_write"] == 0
            assert bounds["energy_nj"] <= cost.energy_nj * (1 + 1e-12)
            assert bounds["latency_cycles"] <= cost.latency_cycles
            before = plain.evaluate(*given)
            if before.feasible:
                assert before.energy_nj > cost.energy_nj
                assert before.latency_cycles >= cost.latency_cycles
            found += 1
    assert found >= 3
