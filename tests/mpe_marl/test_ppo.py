"""IPPO and MAPPO: advantages by hand, what they climb, what each critic sees, going on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

from mpe_marl import (
    LearnerConfig,
    MpeError,
    Policy,
    Replay,
    Schema,
    TrainConfig,
    Trainer,
    Transition,
    evaluate,
    make_learner,
)
from mpe_marl.clock import Clock
from mpe_marl.learners.advantages import advantages
from mpe_marl.profiling import profile
from mpe_marl.replay import Rollout
from mpe_marl.usual import usual_config


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), gamma=st.floats(0, 1), trace=st.floats(0, 1))
def test_advantages_are_sums_of_surprises_within_an_episode(seed, gamma, trace):
    rng = np.random.default_rng(seed)
    shape, steps = (7, 2, 2), 7
    rewards, values, later = (rng.normal(size=shape) for _ in range(3))
    terminated = rng.random(shape[:2]) < 0.2
    ended = terminated | (rng.random(shape[:2]) < 0.2)
    found = advantages(rewards, values, later, terminated, ended, gamma, trace)
    surprise = rewards + gamma * np.where(terminated[..., None], 0, later) - values
    for w in range(2):
        for t in range(steps):
            expected, weight = np.zeros(2), 1.0
            for k in range(t, steps):
                expected += weight * surprise[k, w]
                weight *= gamma * trace
                if ended[k, w]:
                    break
            np.testing.assert_allclose(found[t, w], expected, atol=1e-10)


def trainer(algorithm="mappo", world="simple_spread", n=3, worlds=4, continuous=False, **learner):
    config = TrainConfig(
        world=world, n_agents=n, n_worlds=worlds, continuous=continuous, update_every=120, batch=40,
        learner=LearnerConfig(algorithm, hidden=16, lr=0.01, epochs=2, **learner),
    )  # fmt: skip
    return Trainer(config, 3)


def rollout(learner, steps, pay):
    """Play of single steps in which an agent is paid for what it does."""
    schema = learner.schema
    rng, store = np.random.default_rng(0), Rollout(schema, steps, batch=80)
    shape = (schema.streams, schema.n_agents)
    yes, none = np.ones(schema.streams, bool), np.zeros((0, 0), np.float32)
    for _ in range(steps):
        obs = rng.normal(size=(*shape, schema.obs_dim)).astype(np.float32)
        actions = learner.act(obs)
        store.add(Transition(obs, actions, pay(actions), obs, yes, yes, none, none))
    return store


@pytest.mark.parametrize(("algorithm", "discrete"), [("ippo", True), ("mappo", False)])
def test_policies_learn_the_action_that_is_paid(algorithm, discrete):
    schema = Schema(2, 4, 5, discrete, streams=8)
    learner = make_learner(schema, LearnerConfig(algorithm, lr=0.02, entropy=0.0, epochs=4))
    for _ in range(10):
        store = rollout(learner, 20, lambda a: (a == 1) * 1.0 if discrete else a[..., 1])
        learner.update(store, Clock())
    assert len(store) == 0
    obs = np.random.default_rng(1).normal(size=(50, 2, 4)).astype(np.float32)
    actions = learner.act(obs, explore=False)
    assert (actions == 1).mean() > 0.9 if discrete else (actions[..., 1] > 0.7).mean() > 0.9


def test_a_critic_of_ippo_sees_its_own_agent_and_of_mappo_all():
    schema = Schema(3, 4, 5, streams=2)
    obs = torch.zeros(3, 6, 4, requires_grad=True)
    for algorithm, sees in (("ippo", np.eye(3)), ("mappo", np.ones((3, 3)))):
        learner = make_learner(schema, LearnerConfig(algorithm))
        for bias in learner.critics.online[1::2]:
            bias.fill_(0.1)  # no layer is dead at zero
        values = learner._values(learner.critics.online, obs + 1)
        for i in range(3):
            (slope,) = torch.autograd.grad(values[i].sum(), obs, retain_graph=True)
            assert ((slope != 0).any(2).any(1).numpy() == sees[i]).all()


def test_a_ratio_that_has_gone_far_pays_no_more():
    schema = Schema(1, 2, 3, streams=1)
    learner = make_learner(schema, LearnerConfig("ippo", entropy=0.0, clip=1e9))
    obs, actions = torch.randn(1, 8, 2), torch.zeros(1, 8, dtype=torch.int64)
    now, _ = learner._log_chances(learner.actors.online, obs, actions)
    start = [p.clone() for p in learner.actors.online]
    learner._train_policies(obs, actions, torch.ones(1, 8), now - 1.0)  # ratio e > 1.2
    for old, new in zip(start, learner.actors.online, strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0)
    learner._train_policies(obs, actions, torch.ones(1, 8), now)
    later, _ = learner._log_chances(learner.actors.online, obs, actions)
    assert (later > now).all()


@pytest.mark.parametrize(
    ("algorithm", "world", "n", "continuous"),
    [("ippo", "simple_speaker_listener", 2, False), ("mappo", "simple_spread", 3, True)],
)
def test_a_run_goes_on_in_the_middle_of_a_rollout(tmp_path, algorithm, world, n, continuous):
    one = trainer(algorithm, world, n, continuous=continuous)
    for _ in range(40):
        one.step()
    two = trainer(algorithm, world, n, continuous=continuous)
    state = one.state_dict()
    two.load_state_dict({k: dict(v) for k, v in state.items()})
    for made in (one, two):
        made.run(20)
    assert one.history.rewards == two.history.rewards
    assert one.history.updates == one.history.samples // 120 > 3
    one.keep(tmp_path)
    policy = Policy.load(tmp_path / "policy.safetensors")
    assert np.isfinite(evaluate(policy, 3).returns).all()
    obs = one.env.reset(1)
    np.testing.assert_allclose(policy.act(obs), one.act(obs), rtol=1e-6)
    assert len(np.unique(policy.act(np.tile(obs, (9, 1, 1)), explore=True), axis=0)) > 1


def test_spread_is_learnt():
    config = TrainConfig(
        world="simple_spread", n_worlds=32, update_every=1600, batch=400,
        learner=LearnerConfig("mappo", lr=2e-3, entropy=0.01, epochs=5),
    )  # fmt: skip
    made = Trainer(config, 0)
    made.run(450)
    assert made.history.mean(150) > np.mean(made.history.rewards[:150]) + 1.5


def test_commands_take_what_is_usual_for_the_algorithm():
    def config(train=None, **learner):
        return usual_config(
            {"world": "simple_spread", "law": None, "n_agents": None, **(train or {})},
            {"algorithm": "maddpg", "mode": None, "lr": None, **learner},
        )

    folded = LearnerConfig(mode="folded")
    assert config() == TrainConfig("simple_spread", layout="state", law="shared", learner=folded)
    assert config({"law": "uniform"}) == config(mode="batched") == TrainConfig("simple_spread")
    assert config({"world": "simple_push", "n_agents": 2}) == TrainConfig("simple_push", 2)
    assert config({"law": "shared"}, mode="folded").layout == "state"
    played = config(algorithm="ippo", lr=0.5)
    assert (played.n_worlds, played.update_every, played.learner.lr) == (32, 3200, 0.5)
    assert config({"world": "simple_world_comm"}).n_agents == 6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LearnerConfig("ippo", mode="loop"), "expected mode 'batched'"),
        (lambda: TrainConfig(law="shared", learner=LearnerConfig("ippo")), "has no replay"),
        (lambda: TrainConfig(n_worlds=7, learner=LearnerConfig("ippo")), "multiple of the worlds"),
        (lambda: trainer().replay, "expected one of maddpg"),
        (lambda: profile(trainer().config, rows=200), "has no replay"),
        (lambda: isinstance(trainer().store, Replay) or trainer().store.load_state_dict(
            {"ended": np.zeros((3, 9), bool)}), "continue with the settings"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(MpeError, match=message):
        make()
