"""What every registered environment owes to the libraries that use it."""

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import layers
import maestro_env
from cost_models import PRESETS
from tests.programs import python

BENCH = tuple(name for name in maestro_env.ENVIRONMENTS if name.startswith("Bench-"))
IDS = (*(name for name in maestro_env.ENVIRONMENTS if name not in BENCH), BENCH[0], BENCH[-1])
"""All of them; of the problems of `mapper bench`, which are one environment, two."""
ENDS = [
    (network, place, tuple(PRESETS)[(number + place) % len(PRESETS)])
    for number, network in enumerate(layers.networks())
    for place in (0, -1)
]
"""First and last layers, each on a chip; every chip stands there."""

pytestmark = pytest.mark.filterwarnings("error")


def make(name: str, **options: Any) -> Any:
    return gymnasium.make(name, **options)


def walk(env: Any, steps: int, seed: int = 3) -> list[Any]:
    """Everything an environment says, beside Gymnasium's checker, in steps of random actions."""
    assert "PassiveEnvChecker" in str(env)
    env.action_space.seed(seed)
    said: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        step = env.step(env.action_space.sample())
        said.append(step)
        assert env.observation_space.contains(step[0])
        if step[2] or step[3]:
            said.append(env.reset())
    return said


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_checker_with_every_render_mode(name: str) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    check_env(make(name).unwrapped)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.filterwarnings("default:Gym has been unmaintained")
def test_sb3_checker(name: str) -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_for_sb3(make(name), warn=True)


@pytest.mark.parametrize("name", IDS)
def test_pickles_go_on_where_they_were(name: str) -> None:
    env = make(name, episode_length=17)
    walk(env, 5)
    copy = pickle.loads(pickle.dumps(env))
    actions = [env.action_space.sample() for _ in range(12)]
    for action in actions:
        assert data_equivalence(env.step(action), copy.step(action), exact=True)


@pytest.mark.parametrize("name", IDS)
def test_spec_survives_json(name: str) -> None:
    env = make(name, reward="log", space={"tiles": "divisors"})
    spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    assert data_equivalence(walk(env, 40), walk(gymnasium.make(spec), 40), exact=True)


@pytest.mark.parametrize("name", IDS)
def test_vector_form_is_the_native_one(name: str) -> None:
    envs = gymnasium.make_vec(name, num_envs=3)
    assert isinstance(envs.unwrapped, maestro_env.vector_base.VectorWorldEnv)
    assert envs.spec.id == name
    envs.close()


SAYS = """
import hashlib, gymnasium, numpy as np, maestro_env
digest = hashlib.sha256()
for name in {ids}:
    env = gymnasium.make(name)
    env.action_space.seed(5)
    digest.update(env.reset(seed=5)[0].tobytes())
    for _ in range(10):
        observation, reward, _, _, info = env.step(env.action_space.sample())
        digest.update(observation.tobytes() + np.float64(reward).tobytes())
        digest.update(repr((info["cost"], info["layer"], info["reason"])).encode())
print(digest.hexdigest())
"""


def test_another_process_with_another_hash_seed_says_the_same(capsys: Any) -> None:
    code = SAYS.format(ids=IDS)
    exec(code, {})
    assert python(code, PYTHONHASHSEED="2") == capsys.readouterr().out


@pytest.mark.parametrize(("network", "place", "preset"), ENDS)
def test_first_and_last_layers(network: str, place: int, preset: str) -> None:
    name = ("MaestroEnv-v0", "MaestroEnvPaper-v0")[(layers.networks().index(network) + place) % 2]
    layer = layers.network(network)[place].name
    env = make(name, layer=layer, accelerator=preset).unwrapped
    check_env(env, skip_render_check=True)
    env.reset(seed=0)
    actions = env.problem.space.sample(6, 0)
    said = [env.step(action) for action in [*actions, *actions]]
    for once, again in zip(said[:6], said[6:], strict=True):
        assert once[4]["cost"] == again[4]["cost"]
        assert once[1] == again[1]
        assert env.observation_space.contains(once[0])
        if not once[4]["feasible"]:
            assert once[1] == 0.0
            assert (once[0] == (0 if "Paper" in name else 1)).all()
            assert once[4]["infeasible"].levers
        else:
            assert once[1] > 0


def test_the_papers_environment_says_what_the_paper_prints() -> None:
    """Observation <latency, power, energy, area>, reward 1 / X."""
    env = make("MaestroEnvPaper-v0", layer="resnet18.1").unwrapped
    env.reset(seed=0)
    actions = env.problem.space.sample(400, 0)
    row = int(np.flatnonzero(np.isfinite(env.problem.look(actions).values))[0])
    observed, reward, *_, info = env.step(actions[row])
    cost = info["cost"]
    printed = cost.latency_cycles, cost.power_mw, cost.energy_nj, cost.area_um2
    np.testing.assert_allclose(observed, printed, rtol=1e-6)
    assert reward == 1 / cost.latency_cycles


@pytest.mark.parametrize("options", [{}, {"layers": "alexnet"}, {"objective": "latency"}])
def test_pettingzoo_checkers(options: dict[str, Any]) -> None:
    pytest.importorskip("pettingzoo", reason="needs the extra rl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checkers' own imports warn
        from pettingzoo.test import parallel_api_test, parallel_seed_test
    parallel_api_test(maestro_env.parallel_env(**options), num_cycles=40)
    parallel_seed_test(lambda: maestro_env.parallel_env(**options), num_cycles=20)
