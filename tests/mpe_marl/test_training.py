"""Runs: the loop, the store, checkpoints, any world."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

from marl_runs import CheckpointError, SilentReporter, Store, run_all
from mpe_marl.checkpoint import FORMAT
from mpe_marl.errors import MpeError
from mpe_marl.experiment import Training
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer, random_rewards
from tests.programs import in_process

DATA = Path(__file__).parents[1] / "runs" / "data"
SMALL = {"capacity": 500, "batch": 16, "update_every": 20, "warmup": 40}


def config(mode="batched", layout="joint", law="uniform", **options):
    learner = LearnerConfig(mode=mode, hidden=8)
    return TrainConfig(layout=layout, law=law, learner=learner, **{**SMALL, **options})


CASES = {
    "loop": {"mode": "loop", "layout": "lists"},
    "prioritised": {"law": "prioritised", "n_worlds": 3},
    "folded": {"mode": "folded", "layout": "state", "law": "shared", "n_worlds": 3},
    "mpe2": {"engine": "mpe2", "n_agents": 2},
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_saved_in_an_episode_and_continued_is_the_run(name, tmp_path):
    pytest.importorskip("mpe2" if name == "mpe2" else "torch", reason="needs the extra mpe")
    made = config(**CASES[name])
    straight, first, second = (Trainer(made, seed=4) for _ in range(3))
    for _ in range(60):  # two episodes and ten steps
        first.step()
    FORMAT.save(tmp_path / "run.pt", first.state_dict())
    FORMAT.restore(tmp_path / "run.pt", second.load_state_dict)
    for trainer in (straight, second):
        trainer.run(9)
    assert second.history.samples == straight.history.samples
    assert second.history.rewards == straight.history.rewards
    assert second.history.updates == straight.history.updates > 1
    tensors = second.learner.state_dict()
    for name, value in straight.learner.state_dict().items():
        torch.testing.assert_close(tensors[name], value, rtol=0, atol=0, msg=name)


def test_a_checkpoint_that_is_no_checkpoint_is_refused(tmp_path):
    trainer, other = Trainer(config()), Trainer(config(n_agents=2))
    trainer.run(1)
    FORMAT.save(tmp_path / "run.pt", trainer.state_dict())
    with pytest.raises(MpeError, match="continue with the world, size and hidden width"):
        FORMAT.restore(tmp_path / "run.pt", other.load_state_dict)
    FORMAT.save(tmp_path / "run.pt", {"learner": {}})
    with pytest.raises(CheckpointError, match="remove it to start anew"):
        FORMAT.restore(tmp_path / "run.pt", trainer.load_state_dict)


def test_a_checkpoint_of_the_first_version_continues():
    """Written after 5 of 9 episodes, before checkpoints had a version."""
    made = TrainConfig(
        n_agents=1, layout="joint", law="prioritised", capacity=120, batch=16, update_every=20,
        warmup=40, learner=LearnerConfig(mode="batched", hidden=4),
    )  # fmt: skip
    trainer = Trainer(made, seed=4)
    FORMAT.restore(DATA / "mpe-0.pt", trainer.load_state_dict)
    assert len(trainer.history.rewards) == 5
    trainer.run(9)
    straight = Trainer(made, seed=4).run(9)
    assert trainer.history.rewards == straight.rewards
    assert trainer.history.updates == straight.updates == 10


def test_updates_come_after_every_so_many_samples():
    history = Trainer(config(n_worlds=3)).run(6)
    assert history.samples == 6 * 25
    assert history.updates == (history.samples - 40) // 20 + 1


def test_a_run_goes_to_the_store_and_is_not_done_twice(tmp_path):
    runs = [Training(config(), seed=s, budget=8, report_every=2) for s in (0, 1)]
    with Store.open(tmp_path / "runs.db") as store:
        summary = run_all(runs, store, reporter=SilentReporter())
        assert len(summary.finished) == 2
        again = run_all(runs, store, reporter=SilentReporter())
        assert len(again.kept) == 2
        stored = store.runs(kind="mpe")
        assert [r.samples for r in stored] == [8, 8]
        steps, rewards = store.metrics(stored[0].id, "mean_reward")
        assert steps.tolist() == [2, 4, 6, 8]
        trainer = Trainer(config(), seed=0)
        history = trainer.run(8)
        np.testing.assert_allclose(rewards, np.reshape(history.rewards, (4, 2)).mean(1))
        assert stored[0].result["mean_reward"] == pytest.approx(history.mean(1))
    assert runs[0].standing(20.7488) == "mean reward -20.7"  # the store minimises its negative


@pytest.mark.slow
def test_spread_is_learnt_in_a_few_hundred_episodes():
    learner = LearnerConfig(mode="folded", hidden=32, lr=0.02)
    made = TrainConfig(
        world="simple_spread", n_worlds=4, layout="state", law="shared", capacity=50_000,
        batch=128, update_every=25, warmup=1000, learner=learner,
    )  # fmt: skip
    trainer = Trainer(made, seed=0)
    trainer.run(600)
    rewards = random_rewards(made, 300)
    assert trainer.history.mean(100) > rewards.mean() + 1.0


def test_what_ctrl_c_left_undone_is_no_fault(tmp_path, monkeypatch):
    """The first of two runs is stopped, so the second has none in the store."""
    real_run = Trainer.run

    def stopped(self, episodes, on_step=None):
        os.kill(os.getpid(), signal.SIGINT)
        return real_run(self, episodes, on_step)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Trainer, "run", stopped)
    few = ("--seed", "0", "--seed", "1", "--episodes", "4", "--capacity", "100")
    code, out, err = in_process(["mpe-marl", "train", *few])
    assert code == 1
    assert "fault" not in err
    assert "seed 0" in out
    assert "seed 1" not in out


def test_presets_say_what_is_left_out_and_options_win():
    from mpe_marl.usual import told, usual_config

    none = {"world": "simple_tag", "layout": None, "law": None, "engine": None, "batch": 32}
    paper = usual_config(none, {"algorithm": "maddpg", "mode": None}, "paper")
    assert (paper.law, paper.layout, paper.learner.mode) == ("uniform", "lists", "loop")
    assert told(paper, "paper") == (
        "preset paper: maddpg loop, law uniform, layout lists, batch 32, mpe2 worlds"
    )
    fast = usual_config(none, {"algorithm": "maddpg", "mode": None}, "fast")
    assert (fast.law, fast.layout, fast.engine) == ("shared", "state", "compiled")
    given = usual_config({**none, "law": "neighbor"}, {"algorithm": "maddpg"}, "paper")
    assert (given.law, given.layout) == ("neighbor", "lists")
    with pytest.raises(MpeError, match="use replay layout 'state'"):
        config(mode="folded", law="shared")
    with pytest.raises(MpeError, match="preset 'papr' is not known"):
        usual_config(none, {"algorithm": "maddpg"}, "papr")
    with pytest.raises(MpeError, match="expected an algorithm with a replay"):
        usual_config(none, {"algorithm": "ippo"}, "paper")
