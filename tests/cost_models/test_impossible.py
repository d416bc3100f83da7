"""No model answers with figures that are impossible, whatever layer, chip and space it is given."""

from collections import Counter

import numpy as np
import pytest

import cost_models
import layers
from benchmarks.impossible import trials
from cost_models import Accelerator, MappingBatch, ReasonCode, load
from cost_models.figure_places import (
    AREA_UM2,
    ENERGY_NJ,
    ENERGY_TOTAL_NJ,
    FILTER,
    INPUT,
    INTENSITY,
    L1_BYTES,
    L1_LIMIT,
    L2_BYTES,
    L2_LIMIT,
    L2_READ,
    L2_WRITE,
    LATENCY_CYCLES,
    NUM_FACTS,
    NUM_FIGURES,
    NUM_MACS,
    OUTPUT,
    POWER_MW,
    THROUGHPUT,
    UTILIZED_PES,
)
from cost_models.laws import LAWS, MENDED, facts_of
from cost_models.maestro.guard import GUARD_LAWS
from cost_models.maestro.judging import judge
from maestro_env import MapSpace


def findings(model, samples: int) -> tuple[Counter[str], int]:
    total, feasible = Counter(), 0
    library = list(cost_models.PRESETS.values())
    for _, _, answers, found in trials(model, samples, 1, library):
        total.update(found)
        feasible += answers
    return total, feasible


@pytest.mark.parametrize(("name", "samples"), [("maestro", 20_000), ("exact", 4_000)])
def test_no_answer_is_impossible(name, samples):
    total, feasible = findings(load(name, threads=1), samples)
    assert feasible > samples / 10
    assert sum(total.values()) == 0, {law: count for law, count in total.items() if count}


def test_the_trial_finds_what_the_guard_keeps_out():
    total, _ = findings(load("maestro", guard=False, threads=1), 20_000)
    found = {law.split(":")[0] for law, count in total.items() if count}
    assert {"FEWER_MACS", "MORE_MACS", "FASTER_THAN_PEAK", "NEGATIVE"} <= found


CHIP = Accelerator(4, l1_bytes=100, l2_bytes=1000, noc_bw=8, offchip_bw=2)
LAYER = layers.parse("conv:K=2,C=2,Y=4,X=4,R=1,S=1")


def sound() -> tuple[np.ndarray, np.ndarray]:
    """Figures and facts that break no law."""
    least = {"latency_cycles": 30, "energy_nj": 5, "energy_total_nj": 6, "area_um2": 7}
    figures = np.full(NUM_FIGURES, 40.0)
    figures[NUM_MACS], figures[THROUGHPUT], figures[UTILIZED_PES] = LAYER.macs, 1.6, 3
    return figures, facts_of(LAYER, CHIP, least | {"power_mw": 8})


BREAKS = {
    "latency": (LATENCY_CYCLES, 0),
    "MACs": (NUM_MACS, 63),
    "latency at the array's peak": (LATENCY_CYCLES, 15),
    "latency at the NoC's bandwidth": (LATENCY_CYCLES, 9),
    "input reads from L2": (INPUT + L2_READ, 31),
    "filter reads from L2": (FILTER + L2_READ, 3),
    "output writes to L2": (OUTPUT + L2_WRITE, 31),
    "L1": (L1_BYTES, 101),
    "L2": (L2_BYTES, 1001),
    "energy_nj": (ENERGY_NJ, 4.9),
    "energy_total_nj": (ENERGY_TOTAL_NJ, 5.9),
    "area_um2": (AREA_UM2, 6.9),
    "power_mw": (POWER_MW, 7.9),
    "the lowest figure": (INTENSITY, -1),
    "the highest figure": (INTENSITY, np.inf),
    "PEs at work": (UTILIZED_PES, 5),
    "throughput": (THROUGHPUT, 4.1),
    "latency of outputs on the NoC": (LATENCY_CYCLES, 3),
    "latency of inputs and filters off chip": (LATENCY_CYCLES, 17),
    "latency of outputs off chip": (LATENCY_CYCLES, 15),
    "latency_cycles": (LATENCY_CYCLES, 29),
}


@pytest.mark.parametrize("law", LAWS + MENDED, ids=lambda law: f"{law.code.name}-{law.what}")
def test_every_law_can_be_broken_and_is_not_by_chance(law):
    figures, facts = sound()
    assert not law.broken(figures, facts)
    place, value = BREAKS[law.what] if law.code is not ReasonCode.MORE_MACS else (NUM_MACS, 65)
    figures[place] = value
    assert law.broken(figures, facts)
    both = np.stack([sound()[0], figures], axis=1)
    assert law.broken(both, np.stack([facts, facts], axis=1)).tolist() == [False, True]
    figures[place] = np.nan
    assert law.broken(figures, facts)


def sampled(text: str, chip: Accelerator, size: int = 3000) -> tuple[layers.Layer, MappingBatch]:
    layer = layers.parse(text)
    space = MapSpace(layer, chip)
    return layer, space.decode(space.sample(size, 0))


@pytest.mark.parametrize(
    ("text", "chip", "code", "words"),
    [
        (
            "conv:K=23,C=1021,Y=1,X=20,R=1,S=7,stride=4",
            Accelerator.preset("archgym"),
            ReasonCode.BELOW_BOUND,
            "energy_total_nj .* at least 2812",
        ),
        (
            "conv:K=32768,C=4096,Y=1024,X=4096,R=1,S=1",
            Accelerator.preset("archgym"),
            ReasonCode.OVERFLOWS,
            "L2, which MAESTRO counts in 32 bits, needs [0-9]{10,} B, expected at most 2147483647",
        ),
        (
            "gemm:M=4096,N=151936,K=8192",
            Accelerator(1024, l2_bytes=108_000),
            ReasonCode.L2_CAPACITY,
            "L2 needs [0-9]+ B, limit 108000 B",
        ),
    ],
)
def test_impossible_answers_have_the_law_as_their_reason(text, chip, code, words):
    layer, batch = sampled(text, chip)
    raw = load("maestro", guard=False).evaluate_batch(layer, chip, batch)
    costs = load("maestro").evaluate_batch(layer, chip, batch)
    rows = np.flatnonzero(costs.reason == code)
    assert len(rows)
    assert raw.feasible[rows].all()
    for row in rows[:3]:
        report = costs[int(row)].infeasible
        with pytest.raises(cost_models.InfeasibleError, match=words):
            raise cost_models.InfeasibleError(report)
        assert report.gap > 0
        assert model_agrees(layer, chip, batch, int(row), code)


def model_agrees(layer, chip, batch, row: int, code: ReasonCode) -> bool:
    """Whether the mapping as a dataflow is refused for the same reason."""
    cost = load("maestro").evaluate(layer, chip, batch[row].dataflow(layer))
    return cost.infeasible is not None and cost.infeasible.code is code


def test_macs_that_are_counted_twice_are_reported_once():
    chip = Accelerator(4)
    layer, batch = sampled("conv:K=7,C=29,Y=112,X=115,R=1,S=3,stride=3", chip)
    costs = load("maestro").evaluate_batch(layer, chip, batch)
    raw = load("maestro", guard=False).evaluate_batch(layer, chip, batch)
    rows = costs.feasible & (raw.macs > layer.macs)
    assert rows.any()
    assert (costs.macs[rows] == layer.macs).all()
    assert (costs.detail["maestro_macs"][rows] == raw.macs[rows]).all()
    assert (costs.throughput_macs_per_cycle[rows] <= chip.peak_macs_per_cycle).all()
    assert (costs.energy_nj[rows] == raw.energy_nj[rows]).all()


def test_a_latency_below_the_traffic_is_lifted_to_it():
    layer = layers.parse("conv:K=64,C=2,Y=30,X=30,R=1,S=1")
    chip = Accelerator(1024, noc_bw=4, offchip_bw=3)
    layer, batch = sampled("conv:K=64,C=2,Y=30,X=30,R=1,S=1", chip)
    costs = load("maestro").evaluate_batch(layer, chip, batch)
    ok = costs.feasible
    writes = costs.accesses["output"]["l2_write"][ok]
    assert (costs.latency_cycles[ok] >= writes / 4).all()
    assert (costs.latency_cycles[ok] >= layer.output_size / 3).all()
    before = costs.detail["maestro_latency_cycles"][ok]
    assert (before < costs.latency_cycles[ok]).any()
    assert (before <= costs.latency_cycles[ok]).all()


def test_the_compiled_guard_has_the_laws_of_the_list_in_its_order() -> None:
    """`judge` is written out; here it runs as plain Python on figures near every bound."""
    rng = np.random.default_rng(0)
    found = Counter()
    for _ in range(3_000):
        facts = rng.integers(1, 4, NUM_FACTS).astype(float)
        figures = rng.integers(2, 12, NUM_FIGURES).astype(float)
        for place in rng.integers(0, NUM_FIGURES, 2):
            figures[place] = rng.choice([-1.0, 0.0, 1.0, 2.0**31, 1e300, np.inf, np.nan])
        figures[UTILIZED_PES] = rng.integers(0, 4)
        facts[[L1_LIMIT, L2_LIMIT]] = rng.choice([2.0, np.inf], 2)
        with np.errstate(all="ignore"):
            expected = next((law.code for law in GUARD_LAWS if law.broken(figures, facts)), 0)
            assert judge(figures, facts) == expected, (figures, facts)
        found[expected] += 1
    assert set(found) == {law.code for law in GUARD_LAWS} | {0}
