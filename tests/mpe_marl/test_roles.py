"""Worlds whose agents have other observations and actions: trained, played, kept."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

import mpe_marl
from mpe_marl import LearnerConfig, MpeError, Policy, TrainConfig, Trainer, make_learner
from mpe_marl.clock import Clock
from mpe_marl.evaluating import watch
from mpe_marl.learners import ALGORITHMS
from mpe_marl.learners.bank import NEVER


def trainer(world="simple_speaker_listener", n=2, law="uniform", continuous=False, **learner):
    config = TrainConfig(
        world=world, n_agents=n, law=law, continuous=continuous, capacity=400, batch=32,
        update_every=50, warmup=100, learner=LearnerConfig(hidden=16, **learner),
    )  # fmt: skip
    return Trainer(config, 3)


def filled(**options):
    made = trainer(**options)
    for _ in range(90):
        made._play()
    return made


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_modes_compute_the_same_and_no_agent_learns_what_it_lacks(algorithm):
    replay = filled(law="shared").replay
    state = {k: np.array(v) for k, v in replay.state_dict().items()}
    found = []
    for mode in ("loop", "batched", "shared"):
        replay.load_state_dict(state)
        config = LearnerConfig(algorithm, mode, 16, lr=0.01, dtype="float64")
        learner = make_learner(replay.schema, config, 7)
        for _ in range(3):
            losses = learner.update(replay, Clock())
        assert abs(losses["p_loss"]) < 100  # logits of what they lack are no penalty
        found.append(learner.state_dict())
        for bias in (learner.actors.online[5], learner.actors.target[5]):
            assert (bias[0, 3:] == NEVER).all()
            assert (bias[0, :3].abs() + bias[1].abs().sum() > 0).all()
    for other in found[1:]:
        for name, value in found[0].items():
            torch.testing.assert_close(other[name], value, rtol=1e-7, atol=1e-8, msg=name)


@pytest.mark.parametrize(("world", "n"), [("simple_world_comm", 6), ("simple_reference", 2)])
def test_a_run_explores_own_actions_alone_and_plays_again(tmp_path, world, n):
    made = trainer(world, n)
    made.run(6)
    again = trainer(world, n)
    again.load_state_dict(made.state_dict())
    for one in (made, again):
        one.run(9)
    assert made.history.rewards == again.history.rewards
    sizes = np.array(made.env.act_dims)
    batch = made.replay.layout.gather(np.arange(120))
    moves = batch.actions.argmax(-1)
    assert (moves < sizes).all()
    assert (moves.max(0) > 1).all()
    made.policy.save(tmp_path / "policy.safetensors")
    policy = Policy.load(tmp_path / "policy.safetensors")
    obs = made.env.reset(1)
    np.testing.assert_array_equal(policy.act(obs), made.act(obs))
    assert (policy.act(np.tile(obs, (50, 1, 1)), explore=True) < sizes).all()
    rows = mpe_marl.evaluate(policy, 4).rows()
    assert len(rows) == (4 if n == 6 else 1)  # each team, and all


def test_continuous_worlds_with_roles_train():
    made = trainer("simple_world_comm", 6, continuous=True)
    made.run(6)
    assert made.env.act_dim == 9
    assert np.isfinite(list(made.history.losses.values())).all()


def test_a_world_with_roles_is_watched():
    pytest.importorskip("PIL", reason="extra `viz` is not installed")
    frames = watch(trainer("simple_world_comm", 6).policy, 1)
    assert len(frames) == 26
    assert (frames[0] != frames[-1]).any()


def test_random_play_chooses_what_each_agent_has():
    config = trainer("simple_speaker_listener").config
    assert mpe_marl.random_rewards(config, 20).mean() < -5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: trainer("simple_push", 3), "expected 2 agents"),
        (lambda: TrainConfig(world="simple_push", n_agents=2, layout="state"), "Use 'joint'"),
        (lambda: trainer(law="shared", mode="shared", share_parameters=True), r"have \[3, 5\] act"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(MpeError, match=message):
        make()
