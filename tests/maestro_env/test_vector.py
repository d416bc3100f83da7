import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from maestro_env import EnvError
from tests.fake_model import FakeModel

CASES = {
    "MaestroEnv-v0": {"episode_length": 3},
    "MaestroEnvNetwork-v0": {
        "layers": ["alexnet.0", "mlp.1", "mobilenetv2.1", "alexnet.0"],
        "order": "shuffled",
    },
}


def arguments(name: str) -> dict[str, Any]:
    return {"cost_model": FakeModel(400), "objective": "latency", **CASES[name]}


def pair(name: str, mode: str, count: int = 3, **more: Any):
    given = arguments(name) | more
    native = gymnasium.make_vec(name, num_envs=count, autoreset_mode=mode, **given)
    singles = gymnasium.make_vec(
        name,
        num_envs=count,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **given,
    )
    return native, singles


def assert_same_infos(native: dict[str, Any], singles: dict[str, Any]) -> None:
    assert set(native) == set(singles)
    for key, expected in singles.items():
        if key == "final_info":
            assert_same_infos(native[key], expected)
        elif key.startswith("_"):
            assert (native[key] == expected).all(), key
        else:
            there = np.flatnonzero(singles[f"_{key}"])
            got = [native[key][world] for world in there]
            wanted = [expected[world] for world in there]
            for one, other in zip(got, wanted, strict=True):
                assert type(one) is type(other) or key == "reason"
                exact = data_equivalence(one, other, exact=True) or one == other
                assert np.all(exact), key


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_equals_single_environments_step_for_step(name: str, mode: str) -> None:
    native, singles = pair(name, mode)
    assert native.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert native.action_space == singles.action_space
    assert native.observation_space == singles.observation_space
    native.action_space.seed(0)
    first, second = native.reset(seed=5), singles.reset(seed=5)
    assert np.array_equal(first[0], second[0])
    assert_same_infos(first[1], second[1])
    for _ in range(14):
        action = native.action_space.sample()
        ours, theirs = native.step(action), singles.step(action)
        for one, other in zip(ours[:4], theirs[:4], strict=True):
            assert data_equivalence(one, other, exact=True)
        assert_same_infos(ours[4], theirs[4])
    assert native.worlds.problems[0].samples > 0


def test_disabled_autoreset_takes_a_reset_mask() -> None:
    native = gymnasium.make_vec(
        "MaestroEnv-v0", num_envs=3, autoreset_mode="Disabled", **arguments("MaestroEnv-v0")
    )
    native.reset(seed=0)
    for _ in range(3):
        _, _, _, truncated, _ = native.step(native.action_space.sample())
    assert truncated.all()
    native.reset(options={"reset_mask": np.array([True, True, False])})
    with pytest.raises(EnvError, match=r"worlds \[2\]"):
        native.step(native.action_space.sample())
    observations, infos = native.reset(options={"reset_mask": np.array([False, False, True])})
    assert (observations[2] == 0).all()
    assert infos["_samples"].tolist() == [False, False, True]
    assert not native.step(native.action_space.sample())[3].any()


def test_max_episode_steps_shortens_episodes() -> None:
    native = gymnasium.make_vec(
        "MaestroEnv-v0", num_envs=2, max_episode_steps=2, **arguments("MaestroEnv-v0")
    )
    native.reset()
    assert not native.step(native.action_space.sample())[3].any()
    assert native.step(native.action_space.sample())[3].all()


def test_gymnasiums_vector_wrappers_work_on_it() -> None:
    from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

    native = gymnasium.make_vec("MaestroEnv-v0", num_envs=3, **arguments("MaestroEnv-v0"))
    wrapped = DictInfoToList(RecordEpisodeStatistics(native))
    wrapped.reset(seed=0)
    for _ in range(3):
        _, _, _, _, infos = wrapped.step(native.action_space.sample())
    assert [info["episode"]["l"] for info in infos] == [3, 3, 3]
    assert [info["cost"].latency_cycles for info in infos] == [
        info["latency_cycles"] for info in infos
    ]
    assert infos[2]["cost"] == native.unwrapped.cost(2)
    assert native.worlds.problems[0].samples == 9


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_pickles_go_on_where_they_were(mode: str) -> None:
    native = gymnasium.make_vec("MaestroEnv-v0", 3, autoreset_mode=mode, episode_length=3)
    native.reset(seed=0)
    for _ in range(3):
        native.step(native.action_space.sample())
    copied = pickle.loads(pickle.dumps(native))
    for _ in range(4):
        actions = native.action_space.sample()
        ours, theirs = native.step(actions), copied.step(actions)
        for one, other in zip(ours[:4], theirs[:4], strict=True):
            assert np.array_equal(one, other)
        assert_same_infos(ours[4], theirs[4])


def test_render_gives_a_frame_a_world() -> None:
    native = gymnasium.make_vec(
        "MaestroEnvNetwork-v0", num_envs=2, render_mode="ansi", **arguments("MaestroEnvNetwork-v0")
    )
    native.reset(seed=3)
    assert all("no mapping yet" in frame for frame in native.render())
    layers = [native.worlds.layer_name(world) for world in (0, 1)]
    native.step(native.action_space.sample())
    for frame, layer in zip(native.render(), layers, strict=True):
        assert frame.startswith(layer)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_frames_are_those_of_single_environments_across_resets(mode: str) -> None:
    both = pair("MaestroEnv-v0", mode, 2, render_mode="ansi")
    both[0].action_space.seed(0)
    for envs in both:
        envs.reset(seed=0)
    for _ in range(5):
        actions = both[0].action_space.sample()
        for envs in both:
            envs.step(actions)
        assert both[0].render() == both[1].render()
