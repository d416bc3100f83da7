"""Training the agents on RLlib: the environment of turns, the connector, and one update."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra rllib")
pytest.importorskip("ray", reason="needs the extra rllib")

from mapper.pretrained.training.rllib_trainer import GroupRewards, RllibTrainer
from mapper.pretrained.training.sampling import group_advantage
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.turn_env import UNFIT, TurnEnv
from mapper.pretrained.turns import KINDS
from mapper.pretrained.view import CHOICE_FEATURES, CONTEXT_FEATURES


def legal_of(observation: np.ndarray) -> np.ndarray:
    choices = observation[CONTEXT_FEATURES:].reshape(-1, CHOICE_FEATURES + 1)
    return np.flatnonzero(choices[:, -1])


def play(env: TurnEnv, rng: np.random.Generator) -> tuple[list[str], dict[str, float]]:
    """One episode of uniform choices: who acted, and the rewards at the end."""
    seen, _ = env.reset()
    acted = []
    while True:
        ((agent, observation),) = seen.items()
        acted.append(agent)
        choice = int(rng.choice(legal_of(observation)))
        seen, rewards, ended, *_ = env.step({agent: choice})
        if ended["__all__"]:
            return acted, rewards


def test_agents_take_turns_and_share_the_reward_of_a_mapping_that_fits():
    env = TurnEnv({"cost_model": "exact", "samples": 2, "seed": 3})
    rng = np.random.default_rng(0)
    problems, found = [], []
    for _ in range(6):
        acted, rewards = play(env, rng)
        problems.append(env.batch)
        found += list(rewards.values())
        assert acted == sorted(acted, key=KINDS.index)
        assert set(rewards) == set(acted)
        assert len(set(rewards.values())) == 1
        layer, chip = env.batch.problems[0].layer, env.batch.problems[0].accelerator
        state = env.state
        assert sorted(state.orders[0, 0]) == sorted(state.orders[0, 1])
        assert (state.tiles[0, 0] >= state.tiles[0, 1]).all()
        assert (state.tiles[0, 0] <= layer.extents).all()
        assert 1 <= state.cluster[0] <= chip.num_pes
    assert problems[0] is problems[1]
    assert problems[1] is not problems[2]
    assert sum(reward > UNFIT for reward in found) > len(found) / 2


def test_an_illegal_choice_is_refused():
    env = TurnEnv({"cost_model": "exact", "samples": 1, "seed": 3})
    ((agent, observation),) = env.reset()[0].items()
    illegal = max(legal_of(observation)) + 1
    with pytest.raises(ValueError, match=f"{agent}: choice {illegal} is not legal"):
        env.step({agent: illegal})


def test_rewards_are_standardised_within_a_problem():
    rewards = [-1.0, -2.0, UNFIT, -30.0, -30.5, -31.0]
    values = np.array([np.exp(1), np.exp(2), np.inf, np.exp(30), np.exp(30.5), np.exp(31)])
    expected = group_advantage(values, 3, np.array([np.exp(1), np.exp(30)]))
    np.testing.assert_allclose(GroupRewards(3).advantages(rewards), expected)
    assert expected[0] > expected[1] > expected[2]


@pytest.mark.ray
def test_an_update_on_rllib_changes_every_agent():
    from runs import ray_session

    plan = Schedule(explore_steps=1, problems=2, samples=3, hidden=8)
    with ray_session("local"):
        trainer = RllibTrainer("exact", plan, seed=0)
        before = trainer.weights()
        trainer.step()
        after = trainer.weights()
        trainer.stop()
    for kind in KINDS:
        moved = np.abs(after[f"{kind}.context1.weight"] - before[f"{kind}.context1.weight"])
        assert 0 < moved.max() <= 1.1 * plan.learning_rate
    np.testing.assert_array_equal(after["judge.out.bias"], before["judge.out.bias"])
