from typing import Any

import numpy as np
import pytest

import maestro_env
from layers import Layer
from maestro_env import ActionError, AgentWorlds, BatchedProblem, Problem
from tests.fake_model import FakeModel

LAYER = Layer("conv", "CONV", 24, 13, 31, 47, 3, 5)


def worlds(count: int = 5, **options: Any) -> BatchedProblem:
    return BatchedProblem(Problem(LAYER, "edge", "latency", FakeModel(**options)), count)


def dealt(names: tuple[str, ...], agents: int) -> list[list[str]]:
    return [list(names[i::agents]) for i in range(agents)]


def test_any_assignment_gives_the_same_step() -> None:
    actions = worlds().problems[0].space.sample(5, 0)
    results = []
    for agents in (1, 4, len(worlds().names)):
        made = worlds(l1_elements=30)
        group = AgentWorlds(made, dealt(made.names, agents))
        assert (group.reset() == 0).all()
        observations, rewards, outcome = group.step(group.split(actions))
        results.append((observations.tobytes(), rewards.tobytes(), outcome.values.tobytes()))
        assert (made.samples == 1).all()
        assert made.problems[0].samples == 5
    assert len(set(results)) == 1


def test_without_an_assignment_every_parameter_has_its_agent() -> None:
    made = worlds()
    group = AgentWorlds(made)
    assert group.assignment == tuple((name,) for name in made.names)
    assert group.names[0] == "agent_0"


BAD = {
    "short": lambda first, *others: [first],
    "float": lambda first, *others: [first.astype(float), *others],
    "range": lambda first, *others: [first + 1000, *others],
    "rows": lambda first, *others: [first[:3], *others],
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_actions_are_refused_before_they_count(bad: Any) -> None:
    made = worlds()
    group = AgentWorlds(made, dealt(made.names, 3))
    with pytest.raises(ActionError):
        group.step(bad(*group.split(made.problems[0].space.sample(5, 0))))
    assert made.problems[0].samples == 0


def parallel_env(**options: Any) -> Any:
    pytest.importorskip("pettingzoo", reason="needs the extra rl")
    return maestro_env.parallel_env(
        layer=LAYER, objective="latency", cost_model=FakeModel(l1_elements=30), **options
    )


def test_parallel_env_agrees_with_the_batched_form() -> None:
    agents = dealt(worlds().names, 4)
    env = parallel_env(agents=agents)
    group = AgentWorlds(worlds(1, l1_elements=30), agents)
    env.reset(seed=0)
    group.reset()
    for agent in env.agents:
        env.action_space(agent).seed(3)
    for _ in range(5):
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, _, _, infos = env.step(actions)
        expected = group.step([actions[agent][None] for agent in env.agents])
        for agent in env.agents:
            assert np.array_equal(observations[agent], expected[0][0])
            assert rewards[agent] == expected[1][0]
            assert infos[agent]["value"] == expected[2].values[0]


def test_infos_of_numbers_have_the_same_keys_at_every_step() -> None:
    env, whole = parallel_env(numeric_info=True), parallel_env()
    for one in (env, whole):
        _, infos = one.reset(seed=0)
    assert {"samples", "layer", "action_mask"} <= set(infos["agent_0"])
    _, begun = env.reset(seed=0)
    actions = {agent: env.action_space(agent).sample() for agent in env.agents}
    after, full = env.step(actions)[-1], whole.step(actions)[-1]
    for agent in env.possible_agents:
        assert begun[agent] == {"samples": 0, "value": np.inf}
        assert after[agent] == {name: full[agent][name] for name in ("samples", "value")}


def test_state_is_the_observation_and_the_joint_action() -> None:
    env = parallel_env()
    env.reset(seed=0)
    assert (env.state() == 0).all()
    largest = {agent: env.action_space(agent).nvec - 1 for agent in env.agents}
    observations, *_ = env.step(largest)
    state = env.state()
    assert env.state_space.contains(state)
    assert np.array_equal(state[:4], observations["agent_0"])
    several = worlds().nvec > 1
    assert (state[4:][several] == 1).all()


def test_action_masks_are_each_agents_own() -> None:
    env = parallel_env(agents=dealt(worlds().names, 4))
    _, infos = env.reset(seed=0)
    for agent in env.agents:
        sampled = env.action_space(agent).sample(infos[agent]["action_mask"])
        assert env.action_space(agent).contains(sampled)


def test_sb3_adaptor_equals_the_vector_environment() -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    import gymnasium

    options = {"layer": LAYER, "objective": "latency", "episode_length": 3}
    ours = maestro_env.sb3_vec_env(4, cost_model=FakeModel(l1_elements=30), **options)
    other = gymnasium.make_vec(
        "MaestroEnv-v0",
        num_envs=4,
        autoreset_mode="SameStep",
        cost_model=FakeModel(l1_elements=30),
        **options,
    )
    other.action_space.seed(0)
    assert np.array_equal(ours.reset(), other.reset(seed=0)[0])
    for step in range(1, 8):
        actions = other.action_space.sample()
        observations, rewards, dones, infos = ours.step(actions)
        expected = other.step(actions)
        assert np.array_equal(observations, expected[0])
        np.testing.assert_allclose(rewards, expected[1], rtol=1e-6)
        assert np.array_equal(dones, expected[3])
        if step % 3 == 0:
            for world, info in enumerate(infos):
                assert info["TimeLimit.truncated"]
                assert np.array_equal(info["terminal_observation"], expected[4]["final_obs"][world])
                assert info["episode"]["l"] == 3
    assert ours.env_method("action_masks")[0].shape == (other.single_action_space.nvec.sum(),)


def test_sb3_adaptor_shows_no_mapping_after_a_reset() -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    env = maestro_env.sb3_vec_env(2, layer=LAYER, cost_model=FakeModel(), render_mode="ansi")
    env.reset()
    env.step(np.zeros((2, len(env.worlds.nvec)), np.int64))
    assert "no mapping yet" not in env.env_method("render")[1]
    env.reset()
    assert "no mapping yet" in env.env_method("render")[1]


def test_an_episode_of_a_network_maps_all_of_its_layers() -> None:
    pytest.importorskip("pettingzoo", reason="needs the extra rl")
    env = maestro_env.parallel_env(layers="mobilenetv2", cost_model=FakeModel())
    _, infos = env.reset(seed=0)
    mapped = []
    while env.agents:
        mapped.append(infos["agent_0"]["layer"])
        infos = env.step({name: space.sample() for name, space in env.action_spaces.items()})[-1]
    assert mapped == list(env._world.group.worlds.layer_names)
    assert maestro_env.parallel_env(layer=LAYER).episode_length == 16
