"""The learner on RLlib."""

import os
import subprocess
import sys

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
    with pytest.raises(baselines.SearcherError, match="does not have elites, surrogate; leave"):
        baselines.load("marl", learner="rllib", elites=4, surrogate=0)
    with pytest.raises(baselines.SearcherError, match="reward: got 'rank', expected improvement"):
        baselines.load("marl", learner="rllib", reward="rank")
    with pytest.raises(baselines.SearcherError, match="'marl-rllib': unknown option 'elites'"):
        baselines.load("marl-rllib", elites=4)


@pytest.mark.ray
def test_a_seed_gives_the_same_samples_under_another_hash_seed():
    code = (
        "import baselines, hashlib\n"
        "from tests.mapper.marl_runs import samples_of\n"
        "found = samples_of(baselines.load('marl-rllib', batch=32), 70, 3)[0]\n"
        "print('samples', hashlib.sha256(found.tobytes()).hexdigest())"
    )
    found = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found |= {line for line in done.stdout.splitlines() if line.startswith("samples")}
    assert len(found) == 1
