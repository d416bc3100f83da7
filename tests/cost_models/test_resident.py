"""Tensors that are whole in L2: counts by execution, the same nest as an uneven one, and proofs."""

from dataclasses import replace

import numpy as np
import pytest

import cost_models
from baselines import prove
from baselines.optimal import proving
from cost_models import Accelerator, CostModelError, Mapping, ReasonCode
from cost_models.chain.clusters import as_chain
from cost_models.exact import ExactModel, SimulatorModel
from cost_models.exact.nest import NestLevel
from cost_models.exact.simulator import UNLIMITED, simulate
from layers import TENSORS, Layer
from maestro_env import Problem
from tests.baselines.proofs import brute_force, narrowed, random_problem, worst_bound
from tests.cost_models.tiny import random_case

SOME = ["+".join(t for i, t in enumerate(TENSORS) if n >> i & 1) for n in range(1, 8)]


def resident_of(rng: np.random.Generator, held: tuple[bool, ...] = (True,) * 3) -> str:
    names = [name for name in SOME if all(held[TENSORS.index(t)] for t in name.split("+"))]
    return names[int(rng.integers(len(names)))] if names else ""


@pytest.mark.parametrize("seed", range(60))
def test_a_resident_tensor_is_one_that_l2_holds_whole_before_it_begins(seed: int) -> None:
    """As an entry of the same memory around the others, but for its one way in and out."""
    rng = np.random.default_rng([47, seed])
    case = random_case(rng, 150)
    chip = replace(case.accelerator, l1_bytes=None, l2_bytes=None)
    model = SimulatorModel(resident=resident_of(rng))
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


@pytest.fixture
def _few_first_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "FIRST_SAMPLES", 20)


def problem_of(rng: np.random.Generator, moving: int = 8, most: int = 8) -> Problem:
    """A random problem some of whose tensors are in L2, with what they leave of it."""
    plain = random_problem(rng, most, moving)
    options = {**plain.cost_model.options, "resident": resident_of(rng)}
    if rng.random() < 0.5:
        options["cycle_nj"] = float(rng.choice([1e-4, 0.01, 1.0]))
    limits = dict(plain.limits)
    if rng.random() < 0.6:
        limits["max_l2_bytes"] = float(rng.integers(4, 400))
    model = cost_models.load("exact", **options)
    space = plain.space.options
    return Problem(plain.layer, plain.accelerator, plain.objective.name, model, space, limits)


@pytest.mark.usefixtures("_few_first_samples")
@pytest.mark.parametrize("seed", range(25))
def test_proofs_are_equal_to_brute_force(seed: int) -> None:
    rng = np.random.default_rng([48, seed])
    problem = narrowed(problem_of(rng, moving=3), rng, 5_000)
    best, _ = brute_force(problem)
    proof = prove(problem)
    assert proof.value == pytest.approx(best, rel=1e-9)
    assert proof.status == ("optimal" if np.isfinite(best) else "empty")


def test_no_mapping_is_below_a_bound() -> None:
    tried = 0
    for seed in range(40):
        rng = np.random.default_rng([49, seed])
        problem = problem_of(rng, most=20)
        worst, count = worst_bound(problem, rng, 150)
        assert worst <= 1 + 1e-9, seed
        tried += count
        values = problem.look(problem.space.sample(50, seed)).values
        assert problem.bound is None or problem.bound <= values.min() * (1 + 1e-9)
    assert tried > 1000


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
    for given in ((chip, mapping), as_chain(chip, mapping, layer)):
        for resident, tiles in (("", 3), ("filter", 2), ("filter+output", 1)):
            found = ExactModel(resident=resident).evaluate(layer, *given).infeasible
            assert found.demand == 2 * tiles * 64  # two copies
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


@pytest.mark.parametrize("resident", ["input", "output", "input+output"])
@pytest.mark.parametrize("chip", ["simba", "eyeriss-rs", "sm-a100"])
def test_what_is_resident_on_a_list_of_levels_never_crosses_drams_boundary(chip, resident):
    found = 0
    for layer in ("conv:K=6,C=5,Y=6,X=6,R=3,S=3", "gemm:M=7,N=6,K=5"):
        problem = Problem(layer, chip, "energy", ExactModel(resident=resident))
        looked = problem.look(problem.space.sample(40, 1))
        bounds, plain = problem.figure_bounds, ExactModel()
        for row in np.flatnonzero(looked.feasible)[:4]:
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
    assert found >= 4


def test_a_memory_too_small_names_the_tensors_that_take_of_it() -> None:
    fields = cost_models.load_chip("simba").to_dict()
    small = fields | {
        "levels": [
            level | ({"bytes": 64} if level.get("name") == "GlobalBuffer" else {})
            for level in fields["levels"]
        ]
    }
    chip, layer = cost_models.Chain.from_dict(small), Layer.gemm("product", M=64, N=64, K=64)
    space = Problem(layer, cost_models.load_chip("simba"), "energy", ExactModel()).space
    for resident, named in (("", "for input, output"), ("input", "for output")):
        model = cost_models.load("exact", **({"resident": resident} if resident else {}))
        costs = [model.evaluate(layer, chip, one) for one in space.decode(space.sample(20, 0))]
        refused = [str(cost.infeasible) for cost in costs if cost.infeasible is not None]
        assert refused
        assert all(f"{named}, limit 64 B" in one for one in refused)
