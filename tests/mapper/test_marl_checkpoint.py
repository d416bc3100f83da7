"""Searches that go on where they were, or where a neighbour ended."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import baselines
import cost_models
from maestro_env import Problem
from tests.mapper.marl_runs import problem, samples_of

torch = pytest.importorskip("torch", reason="needs the extra rl")

from mapper.marl.checkpoint import POLICIES, SEARCH, CheckpointError

BUDGET = 400


def interrupted(tmp_path, after, **options):
    """Samples of a search that stops once, as a killed process does, and continues."""

    class KilledError(Exception):
        pass

    path = tmp_path / "state.pt"
    searcher = baselines.load("marl", checkpoint=str(path), checkpoint_every=50, **options)
    counted, actions = problem(), []

    def hook(batch, evaluation):
        actions.append(batch.copy())
        if counted.samples >= after:
            raise KilledError

    counted.on_evaluate = hook
    with pytest.raises(KilledError):
        searcher.search(counted, BUDGET, 0)
    stopped = SEARCH.load(path)["problem"]["samples"]
    return searcher, np.concatenate(actions)[:stopped]


@pytest.mark.parametrize("options", [{}, {"autoregressive": True}])
def test_a_resumed_search_takes_the_samples_it_would_have_taken(tmp_path, options):
    whole, result = samples_of(baselines.load("marl", **options), BUDGET)
    searcher, before = interrupted(tmp_path, 233, **options)
    after, resumed = samples_of(searcher, BUDGET)
    np.testing.assert_array_equal(np.concatenate([before, after]), whole)
    assert resumed.best_value == result.best_value
    assert resumed.improvements == result.improvements


def test_a_checkpoint_of_another_search_is_refused(tmp_path):
    searcher, _ = interrupted(tmp_path, 200)
    path = searcher.config.checkpoint
    with pytest.raises(CheckpointError, match="another seed"):
        searcher.search(problem(), BUDGET, 1)
    with pytest.raises(CheckpointError, match="another config"):
        baselines.load("marl", checkpoint=path, worlds=4).search(problem(), BUDGET, 0)
    with pytest.raises(CheckpointError, match="another problem"):
        searcher.search(Problem("mobilenetv2.7", "edge", "latency"), BUDGET, 0)


def test_a_warm_start_begins_where_a_neighbour_ended(tmp_path):
    path = tmp_path / "state.pt"
    neighbour = Problem("mobilenetv2.10", "edge", "edp")
    baselines.load("marl", checkpoint=str(path)).search(neighbour, 800, 0)

    def early(**options):
        searcher = baselines.load("marl", **options)
        return np.median([searcher.search(problem(), 20, s).best_value for s in range(5)])

    assert early(warm_start=str(path)) < early(pretrained="none")


def test_a_warm_start_is_screened_half_as_long(tmp_path, monkeypatch):
    from baselines.surrogate import Surrogate

    picks, pick = [], Surrogate.pick
    monkeypatch.setattr(Surrogate, "pick", lambda *args: picks.append(1) or pick(*args))
    path = tmp_path / "state.pt"
    baselines.load("marl", checkpoint=str(path), surrogate=200).search(problem(), 400, 0)
    cold = len(picks)
    baselines.load("marl", warm_start=str(path), surrogate=200).search(problem(), 400, 1)
    assert 0 < len(picks) - cold < 0.7 * cold


DATA = Path(__file__).parents[1] / "runs" / "data"
EARLIER = {"halo_time": "none", "energy": "maestro", "area": "maestro"}
"""Options of the exact model that files of version 5 were written under."""


def test_a_checkpoint_of_version_5_goes_on(tmp_path):
    """Written after 100 of 300 samples; the numbers of seen loop nests have changed since."""
    path = tmp_path / "state.pt"
    state = torch.load(DATA / "marl-5.pt", weights_only=True)
    # the file itself was made with halo_time=slide, which has left
    stated = json.loads(state["identity"]["problem"]) | {"cost_model_options": EARLIER}
    torch.save(state | {"identity": state["identity"] | {"problem": json.dumps(stated)}}, path)
    counters = SEARCH.load(path)["problem"]
    options = {"hidden": 8, "elites": 20, "surrogate": 40, "checkpoint": str(path)}
    # what were the defaults
    options |= {"share": 0.2, "local": 0.625, "batch": 64, "own_choice": False, "policy": True}
    problem = Problem("mlp.2", "edge", "edp", cost_models.load("exact", **EARLIER))
    taken = []
    problem.on_evaluate = lambda actions, evaluation: taken.append(len(actions))
    result = baselines.load("marl", **options).search(problem, 300, 0)
    assert (result.samples, sum(taken)) == (300, 300 - counters["samples"])
    known = [(n, value) for n, value in result.improvements if n <= counters["samples"]]
    assert known == [tuple(step) for step in counters["improvements"]]
    shutil.copy(DATA / "marl-5.pt", path)
    expected = (
        "another problem: cost_model_options.halo_time slide there, retain here, .* earlier v"
    )
    with pytest.raises(CheckpointError, match=expected):
        baselines.load("marl", **options).search(Problem("mlp.2", "edge", "edp"), 300, 0)
    torch.save(state | {"identity": state["identity"] | {"problem": json.dumps(stated)}}, path)
    del options["batch"]
    with pytest.raises(CheckpointError, match="another config: batch 64 there, 128 here"):
        baselines.load("marl", **options).search(problem, 300, 0)


def test_shared_policies_of_version_5_are_adopted(tmp_path):
    shutil.copy(DATA / "policies-5.pt", tmp_path / "policies.pt")
    options = {"hidden": 8, "shared_policy": str(tmp_path / "policies.pt")}
    searcher = baselines.load("marl", **options)
    searcher.search(Problem("mlp.2", "edge", "edp"), 60, 0)
    assert POLICIES.load(tmp_path / "policies.pt")["agents"]
