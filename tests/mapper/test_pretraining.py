"""Training the agents: that it learns, repeats, and continues where it was stopped."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra rl")

import cost_models
from mapper.cli import main
from mapper.pretrained.training import session as session_module
from mapper.pretrained.training.experts import ExpertMemory, improve
from mapper.pretrained.training.sampling import WORST, Batch, group_advantage
from mapper.pretrained.training.session import Session, schedule_of
from mapper.pretrained.training.trainer import Schedule, Trainer
from mapper.pretrained.weights import PretrainedError, load

MODEL = cost_models.load("exact")
TINY = Schedule(
    explore_steps=3,
    imitate_steps=3,
    refine_steps=3,
    problems=4,
    samples=4,
    expert_problems=3,
    expert_samples=60,
    refresh_every=2,
    refresh_problems=2,
    imitation_batch=8,
    hidden=8,
)


@pytest.fixture
def quick(monkeypatch):
    """Few validation problems."""
    build = session_module.Validation.build
    monkeypatch.setattr(
        session_module.Validation, "build", staticmethod(lambda model: build(model, 3, 60))
    )


def test_advantages_are_standardised_within_a_problem():
    values = np.array([1.0, 2.0, 4.0, np.inf, 5.0, 5.0, 5.0, 5.0])
    found = group_advantage(values, 4, np.array([1.0, 5.0])).reshape(2, 4)
    assert found[0].argsort().tolist() == [3, 2, 1, 0]
    assert abs(found[0].mean()) < 1e-9
    assert (found[1] == 0).all()
    # a value below the best known is as good as the best, not a number
    better = group_advantage(np.array([0.5, 1.0, 2.0, np.inf]), 4, np.array([1.0]))
    assert np.isfinite(better).all()
    assert better[0] == better[1]
    assert WORST > 0


def test_policy_gradient_learns():
    plan = Schedule(explore_steps=25, problems=12, samples=8, hidden=24, learning_rate=4e-3)
    trainer = Trainer(MODEL, plan, seed=0)
    batch = Batch.random(16, MODEL, np.random.default_rng(99))
    before = median_log_value(batch, trainer)
    for _ in range(plan.explore_steps):
        trainer.step()
    assert median_log_value(batch, trainer) < before - 0.1


def median_log_value(batch, trainer):
    values = batch.values(batch.propose(trainer.proposer, 12, np.random.default_rng(5)))
    values = np.where(np.isfinite(values), values, np.nan).reshape(16, 12)
    with np.errstate(all="ignore"):
        return float(np.nanmean(np.nanmedian(np.log(values), axis=1)))


def test_experts_are_kept_with_weights_by_their_value():
    memory = ExpertMemory()
    trainer = Trainer(MODEL, TINY, seed=1)
    spent = improve(memory, 3, trainer.proposer, MODEL, np.random.default_rng(2))
    assert spent > 3 * 48
    assert len(memory) == 3
    _, which, state, weight = memory.draw(20, np.random.default_rng(3))
    assert weight.max() <= 1.0
    assert weight.min() > 0
    assert len(which) == len(state.cluster) == 20


def test_a_stopped_training_ends_like_one_that_was_not(quick, tmp_path):
    whole, parts = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
    assert Session(MODEL, TINY, 5, whole, lambda _: None, lambda: False).run()
    steps = iter(range(100))
    first = Session(MODEL, TINY, 5, parts, lambda _: None, lambda: next(steps) == 4)
    assert not first.run()
    assert first.part.exists()
    assert not parts.exists()
    assert Session(MODEL, TINY, 5, parts, lambda _: None, lambda: False).run()
    assert not first.part.exists()
    one, other = load(whole), load(parts)
    assert all(np.array_equal(one.weights[n], other.weights[n]) for n in one.weights)
    assert one.card["validation"] == other.card["validation"]
    assert whole.with_suffix(".csv").read_text().count("\n") > 3


def test_a_checkpoint_of_another_training_is_refused(quick, tmp_path):
    out = tmp_path / "agents.safetensors"
    stopped = Session(MODEL, TINY, 5, out, lambda _: None, lambda: True)
    stopped.run()
    with pytest.raises(PretrainedError, match="another schedule or seed"):
        Session(MODEL, TINY, 6, out, lambda _: None, lambda: False).run()
    stopped.part.write_bytes(b"junk")
    with pytest.raises(PretrainedError, match="no checkpoint"):
        Session(MODEL, TINY, 5, out, lambda _: None, lambda: False).run()


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan")])
def test_a_training_of_no_length_is_refused(minutes):
    with pytest.raises(PretrainedError, match="above 0"):
        schedule_of(minutes)


def test_the_command_refuses_wrong_input(capsys, tmp_path):
    for words in (["--out", str(tmp_path / "a.pt")], ["--out", "a.safetensors", "--cpu-minutes", "0"]):
        with pytest.raises(SystemExit) as ended:
            main(["pretrain", *words])
        assert ended.value.code == 2
    assert "expected" in capsys.readouterr().err
