"""What a finished run keeps: it evaluates, plays and exports to what training reported."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

from marl_runs import SilentReporter, Store, run_all
from mpe_marl import evaluating
from mpe_marl.checkpoint import LEARNT
from mpe_marl.errors import MpeError
from mpe_marl.experiment import Training
from mpe_marl.learners import LearnerConfig
from mpe_marl.policy import FINAL, POLICY, Policy
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer
from tests.programs import answer, give

# with so small a step the policy stands still: all episodes are of the one that is kept
STILL = LearnerConfig(mode="folded", hidden=16, lr=1e-12)
CONFIG = TrainConfig(
    world="simple_spread", layout="state", law="shared", capacity=5000, batch=32, update_every=500,
    warmup=200, learner=STILL,
)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A store with one finished run, and the rewards of its episodes."""
    path = tmp_path_factory.mktemp("finished") / "runs.db"
    made = Training(CONFIG, seed=1, budget=300, report_every=30)
    with Store.open(path) as store:
        assert run_all([made], store, reporter=SilentReporter()).finished
        run = store.run(1)
        assert {p.name for p in store.folder(run.key).iterdir()} == {FINAL, POLICY}
        return path, run, store.folder(run.key), store.metrics(1, "mean_reward")[1]


def test_it_evaluates_to_what_training_reported(finished, tmp_path):
    path, _, _, reported = finished
    words = ("mpe-marl", "evaluate", 1, "--store", path, "--episodes", 400)
    (row,) = answer(*words)
    assert row["team"] == "agent"
    assert (row["agents"], row["episodes"]) == (3, 400)
    spread = 1.96 * np.std(reported, ddof=1) / np.sqrt(len(reported))
    assert abs(row["mean_return"] - np.mean(reported)) < row["interval"] + spread
    assert 0 < row["interval"] < 0.2 * abs(row["mean_return"])
    assert answer(*words) == [row]  # the same starts, the same draws
    exported = tmp_path / "p.safetensors"
    give("mpe-marl", "export", 1, "--store", path, "-o", exported)
    again = evaluating.evaluate(Policy.load(exported), 400).rows()
    assert again == [row]


def test_it_plays(finished, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="extra `viz` is not installed")
    gif = tmp_path / "played.gif"
    give("mpe-marl", "watch", 1, "--store", finished[0], "--gif", gif, "--episodes", 1)
    with image.open(gif) as shown:
        assert shown.n_frames == 26
        assert np.asarray(shown.convert("RGB")).std() > 10
    trailed = evaluating.watch(Policy.load(finished[2] / POLICY), 1, seed=3)
    assert not np.array_equal(trailed[0], trailed[-1])


def test_another_trainer_starts_from_it(finished):
    path = finished[2] / FINAL
    kept = LEARNT.load(path)
    assert all(isinstance(t, torch.Tensor) for t in kept["learner"].values())
    assert kept["config"] == CONFIG.plain()
    trainer = Trainer(CONFIG, seed=5)
    trainer.start_from(path)
    obs = np.random.default_rng(0).normal(size=(9, 3, trainer.env.obs_dim)).astype(np.float32)
    kept_policy = Policy.load(finished[2] / POLICY)
    np.testing.assert_array_equal(trainer.act(obs), kept_policy.act(obs))
    np.testing.assert_array_equal(trainer.policy.act(obs), kept_policy.act(obs))


@pytest.mark.parametrize(("continuous", "algorithm"), [(False, "maddpg"), (True, "masac")])
def test_a_policy_acts_as_its_learner_does(continuous, algorithm, tmp_path):
    learner = LearnerConfig(algorithm=algorithm, mode="shared", hidden=8, share_parameters=True)
    made = TrainConfig(continuous=continuous, law="shared", capacity=100, learner=learner)
    trainer = Trainer(made, seed=2)
    trainer.policy.save(tmp_path / "p.safetensors")
    policy = Policy.load(tmp_path / "p.safetensors")
    assert policy.config == made
    obs = np.random.default_rng(0).normal(size=(3, 3, 16)).astype(np.float32)
    policy.seed(2)
    for explore in (True, False):
        np.testing.assert_allclose(policy.act(obs, explore), trainer.act(obs, explore), rtol=1e-6)


def test_teams_that_compete_are_told_apart():
    pytest.importorskip("mpe2", reason="extra `mpe` is not installed")
    world = "mpe2.simple_adversary_v3:parallel_env"
    learner = LearnerConfig(mode="shared")
    policy = Trainer(TrainConfig(world=world, law="shared", capacity=100, learner=learner)).policy
    teams = [(row["team"], row["agents"]) for row in evaluating.evaluate(policy, 3).rows()]
    assert teams == [("adversary", 1), ("agent", 2), ("all", 3)]
    with pytest.raises(MpeError, match="has no picture here"):
        evaluating.watch(policy, 1)


def test_what_is_no_policy_is_refused(finished, tmp_path):
    policy = Policy.load(finished[2] / POLICY)
    with pytest.raises(MpeError, match=r"this policy expected \(W, \*\(3, 18\)\)"):
        policy.act(np.zeros((1, 2, 18), np.float32))
    (tmp_path / "bad").write_bytes(b"x" * 100)
    layers = dict(policy.layers, b2=np.zeros((3, 7), np.float32))
    Policy(layers, policy.config, True).save(tmp_path / "cut")
    for name, says in (("none", "not found"), ("bad", "is no policy"), ("cut", "layer b2")):
        with pytest.raises(MpeError, match=says):
            Policy.load(tmp_path / name)


def test_metrics_go_to_a_board(tmp_path):
    pytest.importorskip("tensorboardX", reason="extra `mpe` is not installed")
    made = Training(CONFIG, seed=2, budget=4, report_every=2, log=f"tensorboard:{tmp_path / 'tb'}")
    with Store.open(tmp_path / "runs.db") as store:
        assert run_all([made], store, reporter=SilentReporter()).finished
    (events,) = (tmp_path / "tb").rglob("events*")
    assert b"mean_reward" in events.read_bytes()
