"""Profiles, the simulator against a plain one, figures' numbers, the command line."""

import json
import os
import time
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

from marl_runs import in_fresh_process
from mpe_marl import comparing, figures, train_config
from mpe_marl.asked import Effort
from mpe_marl.clock import PHASES, Clock
from mpe_marl.learners import LearnerConfig
from mpe_marl.profiling import counters, profile
from mpe_marl.profiling.addresses import lines_of
from mpe_marl.profiling.profile import _timer_of, fill
from mpe_marl.profiling.simulator import LINE, Simulator, _filter
from mpe_marl.replay import LAYOUTS
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer
from tests.programs import answer, give


def config(layout="joint", law="uniform", mode="batched", **options):
    learner = LearnerConfig(mode=mode, hidden=8)
    return TrainConfig(layout=layout, law=law, learner=learner, capacity=400, batch=32, **options)


@settings(max_examples=30, deadline=None)
@given(
    tags=st.lists(st.integers(0, 40), max_size=200),
    sets=st.sampled_from([1, 2, 4]),
    ways=st.integers(1, 4),
)
def test_the_simulated_cache_is_least_recently_used(tags, sets, ways):
    table = np.full((sets, ways), -1, dtype=np.int64)
    missed = _filter(np.array(tags, dtype=np.int64), table)
    caches = [OrderedDict() for _ in range(sets)]
    for tag, miss in zip(tags, missed, strict=True):
        cache = caches[tag % sets]
        assert miss == (tag not in cache)
        cache[tag] = True
        cache.move_to_end(tag)
        if len(cache) > ways:
            cache.popitem(last=False)


def test_what_fits_is_found_the_second_time():
    simulator, lines = Simulator(), np.arange(300)
    assert simulator.run(lines)["l1_misses"] == 300
    again = simulator.run(lines)
    assert again["accesses"] == 300
    assert sum(v for k, v in again.items() if k != "accesses") == 0


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_addresses_cover_every_byte_a_gather_reads(layout):
    trainer = Trainer(config(layout))
    fill(trainer, 60)
    rows = np.array([3, 17, 40])
    lines = lines_of(trainer.replay.layout, rows)
    assert len(lines) * LINE >= 3 * trainer.replay.layout.row_bytes()
    if layout == "joint":
        records = trainer.replay.layout.tables["records"]
        starts = (records.ctypes.data + rows * records.strides[0]) // LINE
        assert set(starts) <= set(lines.tolist())


def test_runs_of_neighbours_miss_less_than_single_rows():
    misses = {}
    for law in ("uniform", "runs"):
        made = config("arrays", law)
        trainer = Trainer(made)
        fill(trainer, 400)
        rows = trainer.replay.law.draw(trainer.replay.ring, 200, np.random.default_rng(0))
        misses[law] = Simulator().run(lines_of(trainer.replay.layout, rows))["l1_misses"]
    assert misses["runs"] < misses["uniform"]


def test_counters_run_the_block_and_count_or_say_they_cannot():
    ran = []
    counted = counters.measure(lambda: ran.append(sum(range(10_000))))
    assert ran
    assert counted is None or counted.get("instructions", 10_000) >= 10_000


def test_a_profile_has_what_it_promises():
    found = profile(config(), rows=100, repeats=2).plain()
    assert {"layout", "law", "n_agents", "batch", "phase_ms", "bytes", "counters"} <= found.keys()
    assert set(found["phase_ms"]) == set(PHASES)
    assert all(ms > 0 for ms in found["phase_ms"].values())
    assert found["bytes"] == 3 * 32 * 4 * (3 * (16 * 2 + 5 + 1) + 1)
    assert found["gflop"] > 0
    assert found["counters"]["source"] in ("perf", "simulated")
    json.dumps(found)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_phase_ends_when_the_gpu_is_done():
    timer = _timer_of(torch.device("cuda"))
    a = torch.rand((8192, 8192), device="cuda")
    a @ a  # the first product loads its library
    clock, begun = Clock(timer), timer()
    with clock("p_loss"):
        for _ in range(10):
            a @ a
        given_s = time.perf_counter() - begun
    assert clock.seconds["p_loss"] > 3 * given_s


def test_the_clock_adds_up():
    now = iter([0.0, 1.0, 3.0, 10.0, 11.0, 20.0, 20.0])
    clock = Clock(lambda: next(now))
    with clock("act"):
        pass
    with clock("sample"):
        pass
    assert clock.seconds["act"] == 2.0
    assert clock.seconds["sample"] == 1.0
    assert clock.shares()["act"] == pytest.approx(0.1)


def made_up(n, sample):
    phases = dict.fromkeys(PHASES, 1.0) | {"sample": sample}
    return {
        "algorithm": "maddpg", "n_agents": n, "phase_ms": phases,
        "counters": {"cache_misses": 10 * n, "source": "simulated"},
    }  # fmt: skip


def test_figures_numbers():
    rows = [made_up(3, 6.0), made_up(6, 12.0)]
    shares = figures.training_shares(rows)["maddpg 3"]
    assert shares == pytest.approx(
        {"action selection": 100 / 13, "update all trainers": 1000 / 13, "other": 200 / 13}
    )
    alone = figures.training_shares(rows, interaction=False)["maddpg 3"]
    assert alone["update all trainers"] == pytest.approx(1000 / 12)
    assert figures.update_shares(rows)["maddpg 3"]["mini-batch sampling"] == pytest.approx(60.0)
    grown = figures.growth(rows)["maddpg 3 to 6"]
    assert grown["sampling"] == 2.0
    assert grown["update all trainers"] == pytest.approx(1.6)
    assert grown["cache misses"] == 2.0


def test_learning_curves_are_means_over_seeds_with_their_interval(tmp_path):
    steps = np.array([100, 200, 300])
    runs = {
        "simple_tag/3 maddpg uniform-joint seed 0": (steps, np.array([1.0, 2.0, 3.0])),
        "simple_tag/3 maddpg uniform-joint seed 1": (steps[:2], np.array([3.0, 2.0])),  # stopped
        "simple_tag/3 maddpg shared-state seed 0": (steps, np.zeros(3)),
        "simple_spread/3 masac uniform-joint seed 0": (steps, np.zeros(3)),
    }
    name = "simple_tag/3 maddpg uniform-joint seed 0"
    curves = figures.learning_curves(runs)
    assert list(curves) == ["simple_tag/3 maddpg", "simple_spread/3 masac"]
    episodes, mean, half = curves["simple_tag/3 maddpg"]["uniform-joint, 2 seeds"]
    assert episodes.tolist() == [100, 200]
    assert mean.tolist() == [2.0, 2.0]
    # Student's t: 12.706 for two values at 95 %, times their standard error of 1
    np.testing.assert_allclose(half, [12.706, 0.0], atol=1e-3)
    assert np.isnan(curves["simple_tag/3 maddpg"]["shared-state"][2]).all()
    figures.draw_rewards(curves, tmp_path / "made" / "figure6.png")
    assert (tmp_path / "made" / "figure6.png").stat().st_size > 10_000
    (line,) = figures.left_out(runs)
    assert line.startswith("simple_tag/3 maddpg uniform-joint seed 0: 1 of 3 points left out")
    assert "episodes 300 to 300" in line
    assert figures.left_out({**runs, "simple_tag/3 maddpg uniform-joint seed 1": runs[name]}) == []


def test_a_fresh_process_is_another_one():
    assert in_fresh_process(os.getpid) != os.getpid()


def test_variants_take_turns_and_keep_their_fastest(monkeypatch):
    calls = []

    def measure(made, how):
        calls.append(made.layout)
        ms = 10.0 + len(calls) if made.layout == "joint" else 5.0 - len(calls)
        return {**made_up(made.n_agents, ms), "cycle_ms": ms}

    monkeypatch.setattr(comparing, "measure", measure)
    how = Effort(rounds=2)
    first, second = comparing.take_turns(TrainConfig(), ["joint", "folded"], how)
    assert calls == ["joint", "state", "joint", "state"]
    assert (first["phase_ms"]["sample"], second["phase_ms"]["sample"]) == (11.0, 1.0)
    row = comparing.against_first([first, second])[1]
    assert row["sample_times"] == 11.0
    assert row["cycle_cut_percent"] == pytest.approx(100 * (1 - 8 / 18))


def test_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr(comparing, "in_fresh_process", lambda function, *words: function(*words))
    store, profiles, comparison = (tmp_path / name for name in ("runs.db", "p.json", "c.json"))
    few = ("--batch", 16, "--capacity", 500, "--warmup", 50, "--store", store)
    rows = answer("mpe-marl", "train", "--episodes", 6, *few, "--seed", 1, "--seed", 2)
    assert [row["status"] for row in rows] == ["finished", "finished"]
    sizes = ("-n", 2, "-n", 3, "--rows", 60, "--repeats", 1, "--batch", 16, "--json")
    profiles.write_text(give("mpe-marl", "profile", *sizes, "--engine", "compiled"))
    variants = ("--variant", "joint", "--variant", "folded")
    comparison.write_text(give("mpe-marl", "compare", *sizes, "--rounds", 1, *variants))
    for source in (store, profiles, comparison):
        give("mpe-marl", "plot", source, "-o", tmp_path / "out")
    drawn = sorted(p.name for p in (tmp_path / "out").iterdir())
    names = ("2-papers", "2", "3", "4", "5", "6")
    assert drawn == [f"figure{name}.{end}" for name in names for end in ("pdf", "png", "svg")]


def test_settings_know_all_layouts_before_they_are_compiled():
    assert tuple(LAYOUTS) == train_config.LAYOUTS
