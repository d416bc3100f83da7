"""The page of the environments, and the examples."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from maestro_env.env import MaestroEnv, MaestroNetworkEnv

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Information",
    "Arguments",
    "Version History",
)
EXAMPLES = {
    "gymnasium_loop.py": ("gymnasium", "1000 samples"),
    "sb3_ppo.py": ("stable_baselines3", "2000 samples"),
    "pettingzoo_loop.py": ("pettingzoo", "800 samples"),
    "cleanrl_ppo.py": ("torch", "6080 samples"),
    "torchrl_rollout.py": ("torchrl", "two agents: best mapping at "),
}


def test_page_is_made_from_the_docstrings() -> None:
    path = ROOT / "docs" / "make_environments.py"
    assert (ROOT / "docs" / "environments.md").read_text() == runpy.run_path(str(path))["page"](), (
        "docs/environments.md is behind the docstrings; run python docs/make_environments.py"
    )


@pytest.mark.parametrize("environment", [MaestroEnv, MaestroNetworkEnv])
def test_docstrings_have_gymnasiums_headings(environment: Any) -> None:
    lines = environment.__doc__.splitlines()
    assert [line.strip()[3:] for line in lines if line.strip().startswith("## ")] == list(HEADINGS)


@pytest.mark.parametrize("script", EXAMPLES)
def test_examples_run(script: str, capsys: Any) -> None:
    library, expected = EXAMPLES[script]
    pytest.importorskip(library)
    runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    out = capsys.readouterr().out
    assert expected in out
    if "mean reward" in out:  # the policy learned
        first, last = map(float, re.findall(r"(\d\.\d+) (?:at first|in the end)", out))
        assert last > 3 * first


@pytest.mark.ray
def test_rllib_checker_and_steps() -> None:
    pytest.importorskip("ray", reason="needs the extra rllib")
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    import maestro_env

    env = maestro_env.rllib_env({"episode_length": 2})
    check_multiagent_environments(env)
    observations, _ = env.reset(seed=0)
    assert set(observations) == set(env.possible_agents)
    actions = {agent: env.action_spaces[agent].sample() for agent in env.agents}
    twin = maestro_env.parallel_env(episode_length=2)
    twin.reset(seed=0)
    for step in (1, 2):
        observations, rewards, terminated, truncated, _ = env.step(actions)
        expected = twin.step(actions)
        assert rewards == expected[1]
        assert not terminated["__all__"]
        assert truncated["__all__"] == (step == 2)
