"""The learner on RLlib."""

import numpy as np
import pytest

import baselines
from mapper.marl.agents import resolve
from tests.mapper.marl_runs import problem, samples_of

torch = pytest.importorskip("torch", reason="needs the extra rllib")
pytest.importorskip("ray", reason="needs the extra rllib")


@pytest.mark.ray
def test_rllib_learns_what_the_batched_learner_learns(tmp_path):
    """Parity of the plain method: both beat random search, at about the same value."""
    budget = 1500
    plain = {"elites": 0, "local": 0.0, "uniform": 0.0, "exchange": 0.0, "avoid_repeats": False}
    path = tmp_path / "policies.pt"
    rllib = baselines.load("marl", learner="rllib", checkpoint=str(path))
    theirs = samples_of(rllib, budget)[1]
    ours = samples_of(baselines.load("marl", **plain), budget)[1]
    chance = samples_of(baselines.load("random"), budget)[1]
    assert theirs.samples == budget
    assert max(theirs.best_value, ours.best_value) < 1.05 * chance.best_value
    assert 0.7 < theirs.best_value / ours.best_value < 1.4
    weights = torch.load(path, weights_only=True)["state"]["agents"]
    assert len(weights) == len(resolve("auto", problem()))


def test_what_ends_an_rllib_search_comes_out_as_itself():
    """RLlib says RuntimeError for all that an environment raises; Ctrl-C is no fault."""
    from mapper.marl.rllib import ChoosingEnv, _until_it_ends

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
    with pytest.raises(StoppedError):
        _until_it_ends(Algorithm(), world)
    assert counted.samples == 3
