"""Training the agents: that it learns, repeats, and continues where it was stopped."""

import itertools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra rl")

from mapper.pretrained.policy_proposals import proposed
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.training import experiment, schedule
from mapper.pretrained.training.experiment import AGENTS, Pretraining
from mapper.pretrained.training.experts import ExpertMemory, ExpertTask, experts_of, joined
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.trainer import PolicyTrainer
from mapper.pretrained.weights import load
from marl_runs import Context, StopRun
from tests.mapper.commands import printed
from tests.mapper.pretrained_cases import random_problems

TINY = Schedule(
    steps=9,
    expert_problems=3,
    refresh_every=4,
    refresh_problems=2,
    samples=70,
    hidden=8,
)


def test_imitation_learns():
    plan = Schedule(
        steps=40, expert_problems=40, refresh_every=30, refresh_problems=8,
        samples=150, hidden=24, learning_rate=4e-3,
    )  # fmt: skip
    trainer = PolicyTrainer("exact", plan, seed=0)
    problems = random_problems(16, seed=99)
    before = median_log_value(problems, trainer)
    for _ in range(plan.steps):
        trainer.step()
    assert median_log_value(problems, trainer) < before - 0.2
    assert trainer.calls == 48 * 150


def median_log_value(problems, trainer):
    rng = np.random.default_rng(5)
    batches = proposed(trainer.weights, arrays_of(problems), np.arange(12), rng)
    found = [p.look(p.space.encode(b)).values for p, b in zip(problems, batches, strict=True)]
    values = np.where(np.isfinite(found), found, np.nan)
    with np.errstate(all="ignore"):
        return float(np.nanmean(np.nanmedian(np.log(values), axis=1)))


def test_a_training_goes_on_from_agents(untrained):
    plan = Schedule(steps=1, expert_problems=2, samples=70, learning_rate=1e-6)
    trainer = PolicyTrainer("exact", plan, 0, untrained.weights)
    trainer.step()
    for name, array in trainer.weights.items():
        np.testing.assert_allclose(array, untrained.weights[name], atol=1e-5)


def test_experts_are_kept_with_weights_by_their_value():
    memory = ExpertMemory()
    trainer = PolicyTrainer("exact", TINY, seed=1)
    shards = [(0, 2, 0), (1, 1, 2)]  # number, problems, the first one
    tasks = [ExpertTask("exact", (1, 1, n), m, k, 70, trainer.weights) for n, m, k in shards]
    found = joined(map(experts_of, tasks))
    assert set(found.rows["problem"]) == {0, 1, 2}
    np.testing.assert_allclose(np.bincount(found.rows["problem"], found.weight), 1.0)
    memory.add(tasks, found)
    again = ExpertMemory()
    again.load_state_dict(memory.state_dict(), "exact")
    (first, weight), (second, _) = (one.draw(np.random.default_rng(3)) for one in (memory, again))
    for kind, packed in first.items():
        assert all(map(torch.equal, packed, second[kind]))
        assert packed.row.max() < len(weight)
    assert weight.max() <= 1.0
    assert weight.min() > 0


def trained(folder, stop_after=math.inf, **who):
    """Train in a folder; it is stopped after so many steps."""
    folder.mkdir(exist_ok=True)
    looks = itertools.count()
    context = Context([].append, lambda: next(looks) >= stop_after, folder)
    return Pretraining("exact", TINY, seed=5, validation=(3, 60), **who).run(context)


def test_a_stopped_training_ends_like_one_that_was_not(tmp_path):
    """It is stopped twice, and two workers go on with it."""
    for stop_after in (5, 1):  # and two steps later
        with pytest.raises(StopRun):
            trained(tmp_path / "stopped", stop_after)
        assert not (tmp_path / "stopped" / AGENTS).exists()
    one = trained(tmp_path / "stopped", workers=2)
    other = trained(tmp_path / "alone")
    mine, yours = load(one["agents"]), load(other["agents"])
    assert mine.weights.keys() == yours.weights.keys()
    assert all(np.array_equal(mine.weights[n], yours.weights[n]) for n in mine.weights)
    assert mine.card["validation"] == yours.card["validation"]
    assert mine.card["cost_model_calls"] == yours.card["cost_model_calls"] > 100
    assert Pretraining(workers=2).identity() == Pretraining().identity()


def test_the_command_trains_keeps_and_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "schedule_of", lambda minutes: TINY)
    monkeypatch.setattr(experiment, "VALIDATION", (3, 60))
    out = tmp_path / "agents.safetensors"
    for _ in range(2):  # the second time nothing is left to do
        assert printed(f"pretrain --out {out} --seed 0 --seed 1").count("CPU min") == 2
        out_bytes = out.read_bytes()
        out.unlink()
    assert len(out_bytes) > 1000
