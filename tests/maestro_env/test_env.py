from typing import Any

import gymnasium
import numpy as np
import pytest

import layers
import maestro_env
from cost_models import Accelerator, ReasonCode
from layers import Layer
from maestro_env import Problem
from maestro_env.features import FEATURES, layer_features
from maestro_env.masks import CAPACITY, Masks, action_masks, flat
from maestro_env.sequence import SharedSpace

SMALL = Accelerator(64, l1_bytes=64, l2_bytes=144, noc_bw=16, offchip_bw=8)


def made(**options: Any) -> Any:
    return gymnasium.make("MaestroEnv-v0", **options).unwrapped


# ---------------------------------------------------------------- arguments


def test_map_space_options_in_both_forms() -> None:
    options = {"tiles": "divisors", "orders": "permutation", "co_search": ["num_pes"]}
    direct, together = made(**options), made(space=options)
    mixed = made(space={"tiles": "divisors", "co_search": ["num_pes"]}, orders="permutation")
    for env in (direct, together, mixed):
        assert env.problem.space.options == direct.problem.space.options
        assert env.problem.space.options["tiles"] == "divisors"
        assert env.action_space == direct.action_space
    assert direct.problem.space.names[-1] == "num_pes"


def test_an_unknown_argument_is_a_type_error_too() -> None:
    """As libraries that try arguments expect."""
    said = "unexpected keyword argument 'frameskip'"
    with pytest.raises(TypeError, match=said):
        made(frameskip=1)
    with pytest.raises(maestro_env.EnvError, match=said):
        gymnasium.make_vec("MaestroEnv-v0", 2, "vector_entry_point", frameskip=1)


def test_a_layer_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        made(layer=Layer.gemm("huge", M=2**40, N=2, K=2))
    env = made(layer=Layer.gemm("large", M=2**30, N=2**30, K=2**30), episode_length=2)
    env.reset(seed=0)
    info = env.step(np.zeros(env.action_space.shape, int))[4]
    assert info["reason"] == ReasonCode.TOO_LARGE


# ---------------------------------------------------------------- steps and infos


def test_episode_length_and_samples() -> None:
    env = made(episode_length=3)
    env.reset(seed=0)
    ends = [env.step(np.zeros(19, int))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    env.reset()
    assert env.step(np.zeros(19, int))[4]["samples"] == 4  # an episode is no new run
    env.reset(seed=1)
    assert env.step(np.zeros(19, int))[4]["samples"] == 1  # a seed starts one
    assert env.problem.samples == 5


# ---------------------------------------------------------------- masks


@pytest.mark.parametrize("options", [{}, {"co_search": ["num_pes"]}, {"orders": "permutation"}])
@pytest.mark.parametrize("model", ["exact", "maestro"])
def test_masked_choices_are_never_feasible(options: Any, model: str) -> None:
    name = "vgg16.1" if "orders" in options else "mobilenetv2.2"
    assert_masks_hold(Problem(name, SMALL, "latency", model, options))


def test_clusters_are_masked_where_the_space_is_narrow() -> None:
    only = {"outer_parallel": ["K"], "outer_tile_C": [32]}  # 96 B a cluster, in an L2 of 144 B
    problem = Problem("mobilenetv2.2", SMALL, "latency", "exact", {"only": only})
    masks = assert_masks_hold(problem)
    assert (masks[problem.space.index("cluster_size")] == 0).any()


def assert_masks_hold(problem: Problem) -> Masks:
    masks = action_masks(problem)
    for column, mask in enumerate(masks):
        for choice in np.flatnonzero(mask == 0):
            actions = problem.space.sample(200, int(choice))
            actions[:, column] = choice
            assert not problem.look(actions).feasible.any()
    assert problem.samples == 0
    return masks


def test_unmasked_choices_fit_somewhere() -> None:
    problem = Problem("mobilenetv2.2", SMALL, "latency", "exact")
    for column, mask in enumerate(action_masks(problem)):
        if problem.space.parameters[column].kind != "tile":
            assert mask.all()
            continue
        for choice in np.flatnonzero(mask):
            fits = problem.space.sample(200, int(choice))
            for other, parameter in enumerate(problem.space.parameters):
                if parameter.kind == "tile" and other != column:
                    fits[:, other] = 0
            fits[:, column] = choice
            assert (~np.isin(problem.look(fits).costs.reason, CAPACITY)).any()


def test_masks_can_be_sampled_and_flattened() -> None:
    env = made(accelerator=SMALL, episode_length=20)
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(20):
        action = env.action_space.sample(info["action_mask"])
        assert all(mask[choice] for mask, choice in zip(info["action_mask"], action, strict=True))
        assert env.step(action)[4]["action_mask"] is info["action_mask"]
    assert np.array_equal(env.action_masks(), flat(info["action_mask"]))


# ---------------------------------------------------------------- several layers


def test_features_tell_layers_apart() -> None:
    seen = {}
    for network in layers.networks():
        for layer in layers.network(network):
            features = layer_features(layer)
            assert features.shape == (len(FEATURES),)
            assert ((features >= 0) & (features <= 1)).all()
            shape = (layer.extents, layer.stride, layer.repeats, layer.kind)
            assert seen.setdefault(features.tobytes(), shape) == shape


def test_shared_space_keeps_ends_and_meanings() -> None:
    names = ("mobilenetv2.1", "vgg16.1", "mlp.0")  # depthwise, convolution, matrix product
    spaces = [maestro_env.MapSpace(layers.get(name), Accelerator.preset("edge")) for name in names]
    shared = SharedSpace(spaces)
    least, most = np.zeros((1, len(shared.nvec)), int), (shared.nvec - 1)[None]
    for index, space in enumerate(spaces):
        ordinal = np.array([parameter.ordinal for parameter in space.parameters])
        assert (shared.translate(least, index)[0] == 0).all()
        assert (shared.translate(most, index)[0] == space.nvec - 1)[ordinal].all()
        own = tuple(np.ones(n, np.int8) for n in space.nvec)
        masks = shared.masks(own, index)
        offered = {p.name: p.choices for p in space.parameters}
        column = shared.names.index("outer_parallel")
        for choice, dim in enumerate("KCYX"):
            action = least.copy()
            action[0, column] = choice
            place = shared.translate(action, index)[0, column]
            there = dim in offered["outer_parallel"]
            assert masks[column][choice] == there
            if there:
                assert offered["outer_parallel"][place] == dim


def test_shuffled_episodes_follow_the_seed() -> None:
    env = gymnasium.make("MaestroEnvNetwork-v0", layers="vgg16", order="shuffled").unwrapped

    def episode(seed: int | None) -> list[str]:
        observation, info = env.reset(seed=seed)
        visited, terminated = [], False
        while not terminated:
            assert np.array_equal(observation[4:], layer_features(env.problem.layer))
            visited.append(info["layer"])
            observation, _, terminated, _, info = env.step(env.action_space.sample())
        return visited

    first, second = episode(3), episode(None)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(la.name for la in layers.network("vgg16"))
    assert episode(3) == first
    assert episode(4) != first


def test_a_shorter_network_episode_is_truncated() -> None:
    env = gymnasium.make("MaestroEnvNetwork-v0", layers="alexnet", episode_length=2).unwrapped
    env.reset(seed=0)
    assert env.step(env.action_space.sample())[2:4] == (False, False)
    assert env.step(env.action_space.sample())[2:4] == (False, True)


# ---------------------------------------------------------------- rendering


def test_text_shows_the_loop_nest_and_units() -> None:
    env = made(render_mode="ansi", accelerator="archgym")
    env.reset(seed=0)
    assert "no mapping yet" in env.render()
    _, _, _, _, info = env.step(env.problem.space.sample(1, 0)[0])
    text = env.render()
    assert "MACs of one PE's tile" in text
    assert f"{info['latency_cycles']:,.1f} cycles" in text
    tight = made(render_mode="ansi", accelerator=Accelerator(16, 8, 64))
    tight.reset(seed=0)
    tight.step(tight.problem.space.nvec - 1)
    assert "Infeasible" in tight.render()
    assert tight.problem.samples == 1


def test_picture_changes_with_the_mapping() -> None:
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    env = made(render_mode="rgb_array")
    env.reset(seed=0)
    frames = [env.render()]
    for action in (np.zeros(19, int), env.problem.space.nvec - 1):
        env.step(action)
        frames.append(env.render())
        assert np.array_equal(frames[-1], env.render())
    assert all(frame.shape == (512, 800, 3) and frame.dtype == np.uint8 for frame in frames)
    assert len({frame.tobytes() for frame in frames}) == 3
