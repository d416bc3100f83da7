"""The learner on RLlib; what it learns: test_ray.py."""

import numpy as np
import pytest

import baselines
from mapper.marl.agents import resolve
from tests.mapper.marl_runs import problem

pytest.importorskip("torch", reason="needs the extra rllib")
pytest.importorskip("ray", reason="needs the extra rllib")


@pytest.mark.parametrize("mode", ["paper", "search"])
def test_agents_see_the_last_mapping_and_get_the_modes_reward(mode):
    """1/x in the paper's; else -1 where infeasible, and less than 1."""
    from mapper.marl.rllib import ChoosingEnv

    counted = problem()
    world = ChoosingEnv(counted, resolve("auto", counted), mode=mode)
    actions, rewards = counted.space.sample(40, 0), []
    for action in actions:
        chosen = {agent: action[columns] for agent, columns in enumerate(world.columns)}
        seen, reward, *_ = world.step(chosen)
        assert len({tuple(figures) for figures in seen.values()}) == 1
        rewards.append(reward[0])
    values = counted.look(actions).values
    feasible = np.isfinite(values)
    if mode == "paper":
        np.testing.assert_allclose(rewards, np.where(feasible, counted.bound / values, 0))
    else:
        assert (np.equal(rewards, -1) == ~feasible).all()
        assert np.max(rewards) < 1
    assert counted.samples == 40


def test_what_ends_an_rllib_search_comes_out_as_itself():
    """RLlib says RuntimeError for all that an environment raises; Ctrl-C is no fault."""
    from mapper.marl.rllib import ChoosingEnv, _advance

    class StoppedError(Exception):
        pass

    def stop(batch, evaluation):
        if counted.samples == 3:
            raise StoppedError

    class Algorithm:
        def train(self):
            agents = zip(world.possible_agents, world.columns, strict=True)
            try:
                world.step({name: np.zeros(len(columns), int) for name, columns in agents})
            except StoppedError:
                raise RuntimeError from None

    counted = problem()
    counted.on_evaluate = stop
    world = ChoosingEnv(counted, resolve("auto", counted))

    def train():
        while True:
            _advance(Algorithm(), world)

    with pytest.raises(StoppedError):
        train()
    assert counted.samples == 3


def test_options_that_the_learner_does_not_have_are_refused():
    for says, method, options in (
        ("reward: got 'relative', but the mode paper", "marl-rllib",
         {"mode": "paper", "reward": "relative"}),
        ("does not have elites, surrogate; leave", "marl",
         {"learner": "rllib", "elites": 4, "surrogate": 0}),
        ("reward: got 'rank', expected improvement", "marl",
         {"learner": "rllib", "reward": "rank"}),
        ("'marl-rllib': unknown option 'elites'", "marl-rllib", {"elites": 4}),
    ):  # fmt: skip
        with pytest.raises(baselines.SearcherError, match=says):
            baselines.load(method, **options)
