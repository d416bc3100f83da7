"""Phases: densities at their ends, exact counts, restoration that fills every mask."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.config import PretrainConfig
from mst.flops import update_work
from mst.phases import RESTORATION, ULTRA, WARM_UP, Phase, PhaseSchedule, parse_phases, phases_text
from mst.presets import PRESETS, preset, three_phases
from sparse_training import LAWS


def schedule(updates, laws=("linear", "linear"), sparsity=0.9, **options):
    first, ultra, last = three_phases(0.1, 0.1)
    phases = (
        Phase(WARM_UP, first.start, first.end, laws[0]),
        ultra,
        Phase(RESTORATION, last.start, last.end, laws[1]),
    )
    chosen = {"every": 100, "moves": 10, "drop": 0.3, **options}
    return PhaseSchedule(phases, sparsity, updates, **chosen)


@settings(max_examples=30, deadline=None)
@given(
    updates=st.integers(40, 5000),
    laws=st.tuples(st.sampled_from([*LAWS]), st.sampled_from([*LAWS])),
    sparsity=st.floats(0.05, 0.98),
    every=st.integers(1, 300),
    moves=st.integers(1, 20),
)
def test_densities_at_the_ends_of_phases(updates, laws, sparsity, every, moves):
    made = schedule(updates, laws, sparsity, every=every, moves=moves)
    moments = made.moments()
    by_phase = {name: [m for m in moments if m.phase == name] for name in (WARM_UP, ULTRA)}
    assert by_phase[WARM_UP][-1].density == pytest.approx(1 - sparsity)
    assert all(m.density == pytest.approx(1 - sparsity) for m in by_phase[ULTRA])
    assert made.first_density == moments[-1].density == 1
    assert [m.update for m in moments] == sorted({m.update for m in moments})
    falling = [m.density for m in by_phase[WARM_UP]]
    assert falling == sorted(falling, reverse=True)


@settings(max_examples=20, deadline=None)
@given(updates=st.integers(40, 800), every=st.integers(1, 300))
def test_spans_are_the_run(updates, every):
    made = schedule(updates, every=every)
    spans = made.spans()
    assert sum(span.updates for span in spans) == updates
    assert sum(span.topology for span in spans) == len(made.moments())
    update = 0
    for span in spans:
        assert made.phase_at(update) == made.phase_at(update + span.updates - 1) == span.phase
        update += span.updates


def test_the_drop_begins_anew_in_each_phase():
    made = schedule(4000)
    for phase in (WARM_UP, ULTRA, RESTORATION):
        drops = [m.drop for m in made.moments() if m.phase == phase]
        assert drops[0] == pytest.approx(0.3)
        assert drops == sorted(drops, reverse=True)
    ultra = [m.update for m in made.moments() if m.phase == ULTRA]
    assert ultra[:3] == [400, 500, 600]


def test_runs_without_phases_or_with_one_alone():
    static = PhaseSchedule((Phase(ULTRA, 0, 1),), 0.8, 500, 100, 10, 0.3)
    assert static.first_density == static.moments()[-1].density == pytest.approx(0.2)
    dense = PhaseSchedule((), 0.0, 500, 100, 10, 0.3)
    assert dense.moments() == []
    assert [(s.updates, s.density, s.phase) for s in dense.spans()] == [(500, 1.0, None)]


def test_phases_as_text():
    phases = parse_phases("warm-up:0-.1:step,ultra:.1-.9,restoration:.9-1:cubic")
    assert [p.law for p in phases] == ["step", "linear", "cubic"]
    assert parse_phases("none") == ()
    for text in ("none", "warm-up:0.0-0.1:step,ultra:0.1-1.0:linear:blocks:32"):
        assert phases_text(parse_phases(text)) == text
    assert {p.law for p in parse_phases("warm-up:0-.1,ultra:.1-1", "cubic")} == {"cubic"}


def test_a_phase_may_have_an_attention_of_its_own():
    text = "warm-up:0-.1,ultra:.1-.5,ultra:.5-.9:linear:dense,restoration:.9-1::local"
    phases = parse_phases(text)
    assert [p.pattern("strided") for p in phases] == ["strided", "strided", "dense", "local"]
    assert [p.law for p in phases] == ["linear"] * 4
    small = preset("small").config
    config = replace(small, sparse=replace(small.sparse, phases=phases))
    assert PretrainConfig.of(json.loads(json.dumps(config.plain()))) == config
    assert "attention" not in config.plain()["sparse"]["phases"][0]
    work = [update_work(config, 0.1, phase, False).theory.attention for phase in phases]
    assert work[0] == work[1] < work[2]
    assert work[2] == update_work(config, 0.1, None, False).theory.attention
    made = PhaseSchedule(phases, 0.9, 1000, 100, 10, 0.3)
    assert [m.drop for m in made.moments() if m.update in (100, 500)] == [0.3, 0.3]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_end_dense(name):
    chosen = preset(name)
    config = chosen.config
    made = PhaseSchedule(config.sparse.phases, config.sparse.sparsity, 1000, 100, 10, 0.3)
    assert made.moments()[-1].density == 1
    assert min(m.density for m in made.moments()) == pytest.approx(1 - config.sparse.sparsity)
