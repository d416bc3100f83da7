"""The compiled worlds against mpe2, and the faces they wear."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpe_marl.errors import MpeError
from mpe_marl.worlds import (  # fmt: skip
    LINEAR_SCENARIOS,
    SCENARIOS,
    BatchWorlds,
    make_spec,
    parallel_env,
    physics,
    reference,
)
from mpe_marl.worlds.role_spec import ROLE_SCENARIOS

LINEAR = ((1, 25, False), (3, 25, True), (6, 25, False), (20, 6, True), (44, 2, False))
SIZES = [(scenario, *size) for scenario in LINEAR_SCENARIOS for size in LINEAR]
SIZES += [
    (scenario, None, 25, continuous) for scenario in ROLE_SCENARIOS for continuous in (False, True)
]
SIZES += [
    ("simple_adversary", 2, 25, False), ("simple_adversary", 7, 25, True),
    ("simple_world_comm", 9, 25, False),
]  # fmt: skip


ROUNDED = {"rtol": 1.2e-7, "atol": 1e-12}
"""Of float32: one rounding apart at most."""


def crowd(env, states, scenario, seed):
    """Bring agents together, at a landmark where there are roles: contacts, catches, forests."""
    world = env.unwrapped.world
    scale, here = 0.1, 0.0
    if scenario in ROLE_SCENARIOS:
        scale, here = 0.3, world.landmarks[-(seed % 4 == 1)].state.p_pos
    for i, agent in enumerate(world.agents):
        agent.state.p_pos = agent.state.p_pos * scale + here
        states[2 * i : 2 * i + 2] = agent.state.p_pos


@pytest.mark.parametrize(("scenario", "n_agents", "steps", "continuous"), SIZES)
def test_step_for_step_with_mpe2(scenario, n_agents, steps, continuous):
    """Through the trainer's interface; mpe2 goes on from a checkpoint in the middle, too."""
    pytest.importorskip("mpe2", reason="extra `mpe` is not installed")
    spec = make_spec(scenario, n_agents, continuous=continuous)
    theirs, worlds, rng = reference.Mpe2Worlds(spec), BatchWorlds(spec), np.random.default_rng(0)
    env, names, roles = theirs.envs[0], theirs.names, scenario in ROLE_SCENARIOS
    sizes = [np.prod(getattr(env.action_space(a), "shape" if continuous else "n")) for a in names]
    if roles:
        assert (spec.names, list(spec.act_dims), worlds.act_dim) == (names, sizes, max(sizes))
        assert list(spec.obs_dims) == [env.observation_space(a).shape[0] for a in names]
    told, paid = [], 0
    for seed in (0, 1, 3) if roles else (0, 1):
        np.testing.assert_array_equal(worlds.reset(seed), theirs.reset(seed))
        if seed % 2:
            crowd(theirs.envs[0], worlds.exact_states[0], scenario, seed)
        for t in range(steps):
            if continuous:
                act = rng.random((1, len(names), worlds.act_dim), dtype=np.float32)
            else:
                act = np.array([[int(rng.integers(size)) for size in sizes]])
            if (seed, t) == (0, steps // 2):
                saved, theirs = theirs.state_dict(), reference.Mpe2Worlds(spec)
                seen = worlds.load_state_dict(worlds.state_dict())
                np.testing.assert_allclose(theirs.load_state_dict(saved), seen, **ROUNDED)
            ours, other = worlds.step(act), theirs.step(act)
            state = reference.state_of(theirs.envs[0])
            np.testing.assert_allclose(worlds.exact_states[0], state, rtol=0, atol=1e-12)
            np.testing.assert_allclose(worlds.states()[0], state, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(ours.rewards, other.rewards, rtol=0, atol=1e-12)
            np.testing.assert_allclose(ours.obs, other.obs, **ROUNDED)
            np.testing.assert_array_equal(ours.ended, other.ended)
            told.append(ours.obs[0].copy())
            paid += abs(ours.rewards).sum() > 0
        if steps == 25:
            assert ours.ended.all()
            again = worlds.restart(ours.ended), theirs.restart(other.ended)
            np.testing.assert_array_equal(*again)
    assert paid
    told = np.array(told)
    if roles:  # colours hardly change
        assert (np.ptp(told, axis=0) > 0).sum() > 0.6 * sum(spec.obs_dims)
    if scenario == "simple_world_comm":  # in a forest and not, seen and out of sight
        hidden = told[:, : -spec.n_good, 4 + 10 + 2 * len(names) - 2 + 2 * spec.n_good]
        assert set(hidden.ravel()) == {-1, 1}
        places = told[:, 1, 14 : 14 + 2 * len(names) - 2]
        assert 0.05 < (places == 0).mean() < 0.95


def test_an_action_that_an_agent_lacks_is_its_action_0():
    one, two = (BatchWorlds(make_spec("simple_world_comm")) for _ in range(2))
    for worlds in (one, two):
        worlds.reset(3)
    padded = one.step(np.array([[19, 5, 19, 7, 4, 11]])).obs.copy()
    np.testing.assert_array_equal(padded, two.step(np.array([[19, 0, 0, 0, 4, 0]])).obs)
    may = one.available()
    assert may.shape == (1, 6, 20)
    assert may.sum(2).tolist() == [[20, 5, 5, 5, 5, 5]]
    assert BatchWorlds(make_spec("simple_reference")).available() is None


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_openai_order_moves_with_the_new_velocity(scenario):
    # multiagent/core.py of the original particle environments: velocity first, then position
    spec = make_spec(scenario, velocity_order="openai")
    worlds = BatchWorlds(spec)
    worlds.reset(0)
    movers = spec.n_movers
    for _ in range(5):
        before = worlds.exact_states[0, : 2 * movers].copy()
        worlds.step(np.full((1, spec.n_agents), 2))
        after = worlds.exact_states[0]
        moved = (after[: 2 * movers] - before) / physics.DT
        np.testing.assert_allclose(moved, after[2 * movers : 4 * movers], atol=1e-12)


SIZED = (*LINEAR_SCENARIOS, "simple_adversary", "simple_world_comm")


@settings(max_examples=25, deadline=None)
@given(
    scenario=st.sampled_from(SCENARIOS),
    n=st.integers(3, 7),
    worlds=st.integers(2, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_batch_is_its_worlds_one_by_one(scenario, n, worlds, seed):
    spec = make_spec(scenario, n if scenario in SIZED else None)
    batch = BatchWorlds(spec, worlds)
    batch.reset(seed)
    start = batch.exact_states.copy()
    shape = (10, worlds, spec.n_agents)
    moves = np.random.default_rng(seed).integers(0, spec.act_dim, shape)
    for m in moves:
        step = batch.step(m)
    for w in range(worlds):
        single = BatchWorlds(spec)
        single.reset(0)
        single.exact_states[0] = start[w]
        for m in moves:
            alone = single.step(m[w : w + 1])
        np.testing.assert_array_equal(alone.obs[0], step.obs[w])
        np.testing.assert_array_equal(alone.rewards[0], step.rewards[w])


@pytest.mark.parametrize(("n", "width"), [(3, 16), (6, 26), (12, 50), (24, 98), (48, 194)])
def test_predators_observe_as_much_as_in_the_paper(n, width):
    assert make_spec("simple_tag", n).obs_dim == width


KINDS = [(scenario, number % 2 == 1) for number, scenario in enumerate(SCENARIOS)]
"""Scenarios, every second one with continuous actions."""


@pytest.mark.parametrize(("scenario", "continuous"), KINDS)
def test_pettingzoo_face(scenario, continuous):
    pytest.importorskip("pettingzoo", reason="extra `mpe` is not installed")
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(parallel_env(scenario, continuous=continuous), num_cycles=30)
    parallel_seed_test(lambda: parallel_env(scenario, continuous=continuous))


def test_a_world_is_drawn_with_trails():
    pytest.importorskip("PIL", reason="extra `viz` is not installed")
    env = parallel_env("simple_tag", 2, render_mode="rgb_array")
    for early in (env.render, lambda: env.step({})):
        with pytest.raises(MpeError, match="Call reset"):
            early()
    env.reset(seed=1)
    first = env.render()
    assert first.shape == (400, 400, 3)
    for _ in range(8):
        env.step(dict.fromkeys(env.agents, 2))
    assert (env.render() != first).any()
    assert parallel_env("simple_tag", 2).render() is None
    with pytest.raises(MpeError, match="expected one of rgb_array"):
        parallel_env("simple_tag", 2, render_mode="human")


def test_any_parallel_env_is_trained_through_the_same_interface():
    pytest.importorskip("mpe2", reason="extra `mpe` is not installed")
    from mpe2 import simple_speaker_listener_v4

    from mpe_marl.worlds.parallel import AnyWorlds

    class Masked:
        """The world with a mask in the listener's info, and the speaker gone at its second step."""

        def __init__(self):
            self.inner, self.t = simple_speaker_listener_v4.parallel_env(), 0

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def reset(self, seed=None):
            obs, infos = self.inner.reset(seed=seed)
            return obs, {**infos, "listener_0": {"action_mask": [1, 0, 1, 0, 1]}}

        def step(self, actions):
            obs, *rest = self.inner.step(actions)
            del obs["speaker_0"]
            return obs, *rest

    worlds = AnyWorlds(Masked, 2)
    assert (worlds.obs_dim, worlds.act_dim) == (11, 5)  # the listener's; the speaker has 3 and 3
    obs = worlds.reset(5)
    assert obs.shape == (2, 2, 11)
    assert not obs[:, 0, 3:].any()
    inner = worlds.envs[0].inner
    np.testing.assert_array_equal(worlds.states()[0], inner.state())
    own, masked = np.arange(5) < 3, [True, False, True, False, True]
    np.testing.assert_array_equal(worlds.available(), [[own, masked]] * 2)
    worlds.step(np.zeros((2, 2), dtype=np.int64))
    np.testing.assert_array_equal(worlds.available(), [[np.arange(5) < 1, [True] * 5]] * 2)
    for t in range(1, 25):
        step = worlds.step(np.full((2, 2), 4))
        assert step.ended.all() == (t == 24)
    assert not step.terminated.any()
    worlds.restart(step.ended)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_spec("simple_tag", 0), "n_agents=0"),
        (lambda: make_spec("simple_spread", 3, n_prey=1), "no meaning"),
        (lambda: make_spec("simple_push", 3), "expected 2 agents"),
        (lambda: make_spec("simple_adversary", 1), "expected at least 2 agents"),
        (lambda: make_spec("simple_reference", n_landmarks=1), "no meaning"),
        (lambda: make_spec("simple_tag", velocity_order="old"), "expected one of mpe2, openai"),
        (lambda: BatchWorlds(make_spec("simple_tag")).step(np.zeros((1, 2), int)), r"\(1, 3\)"),
    ],
)
def test_wrong_use_is_explained(make, message):
    with pytest.raises(MpeError, match=message):
        make()
