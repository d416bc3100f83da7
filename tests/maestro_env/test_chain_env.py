"""The environments on chips of any depth."""

import warnings
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from cost_models import CHAINS

LAYER = "resnet18.5"


@pytest.mark.parametrize("name", CHAINS)
def test_the_environment_is_one(name: str) -> None:
    env = gymnasium.make("MaestroEnv-v0", accelerator=name, layer=LAYER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped, skip_render_check=True)
    _, info = env.reset(seed=0)
    best = 0.0
    for seed in range(100):
        env.action_space.seed(seed)
        _, reward, _, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        best = max(best, float(reward))
        if truncated:
            env.reset()
    assert 0 < best <= 1


def test_masks_leave_out_what_cannot_fit() -> None:
    env = gymnasium.make("MaestroEnv-v0", accelerator="nvdla-cacc", layer=LAYER)
    problem = env.unwrapped.problem
    _, info = env.reset(seed=0)
    masks = info["action_mask"]
    masked = [i for i, mask in enumerate(masks) if not mask.all()]
    actions = problem.space.sample(2000, 0)
    feasible = actions[problem.look(actions).feasible]
    assert len(feasible)
    for column in masked:
        assert (masks[column][feasible[:, column]] == 1).all()


def test_layers_share_one_action_space() -> None:
    env = gymnasium.make(
        "MaestroEnvNetwork-v0",
        accelerator="simba",
        layers=["resnet18.2", "mobilenetv2.2", "gemm:M=128,N=768,K=768"],
    )
    _, info = env.reset(seed=0)
    names = env.unwrapped.worlds.names
    assert "GlobalBuffer.order" in names
    terminated, steps = False, 0
    while not terminated:
        _, _, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
        steps += 1
    assert steps == 3


def test_a_mapping_is_shown_as_its_loops() -> None:
    def shown(mode: str) -> Any:
        env = gymnasium.make("MaestroEnv-v0", accelerator="sm-a100", layer=LAYER, render_mode=mode)
        env.reset(seed=0)
        env.action_space.seed(0)
        env.step(env.action_space.sample())
        return env.render()

    assert "MAC" in shown("ansi")
    assert "l1_bytes" not in shown("ansi")
    assert shown("rgb_array").shape == (512, 800, 3)
