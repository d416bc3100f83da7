"""Every registered searcher against the conformance class, one test class per searcher."""

import sys
from importlib.util import find_spec

import pytest

import baselines
from baselines.conformance import SearcherConformance, tiny_problem

NEEDS = {
    "bo": "botorch",
    "tpe": "optuna",
    "cma-es": "cma",
    "ppo": "stable_baselines3",
    "ppo-matched": "stable_baselines3",
    "marl": "torch",
}
SETTINGS = {
    # fewer fits than its defaults, which are for the quality of hundreds of samples
    "bo": {
        "options": {"startup": 16, "growth": 1.4, "candidates": 100, "local": 100},
        "budget": 24,
        "tiny_budget": 60,
        "compared": 48,
        "seeds": 1,
    },
    "tpe": {"budget": 60, "tiny_budget": 100, "compared": 120, "seeds": 1},
    # smaller rollouts than its defaults, so that it learns within a short run
    "ppo": {
        "options": {"worlds": 16, "steps": 16, "learning_rate": 3e-3},
        "compared": 3000,
        "seeds": 1,
    },
    "ppo-matched": {"compared": 3000, "seeds": 1},
    # real problems: tests/mapper/test_proofs.py
    "optimal": {"budget": 60, "compared": 30, "problems": lambda self: [tiny_problem()]},
    "auto": {"budget": 60, "compared": 30, "problems": lambda self: [tiny_problem()]},
    "random": {"tiny_budget": 3_000},
    "random-walk": {"tiny_budget": 3_000},
}


def conformance(name: str) -> type:
    marks = []
    module = NEEDS.get(name)
    if module:
        missing = find_spec(module) is None
        marks.append(pytest.mark.skipif(missing, reason=f"{name} needs the package {module}"))
    body = {"name": name, "pytestmark": marks, **SETTINGS.get(name, {})}
    return type("Test" + name.title().replace("-", ""), (SearcherConformance,), body)


for registered in baselines.names():
    if baselines.load(registered).capabilities.on_request:
        continue  # takes minutes: tests of its own
    found = conformance(registered)
    setattr(sys.modules[__name__], found.__name__, found)


def test_the_tiny_problem_has_infeasible_mappings_and_one_optimum_among_many_values() -> None:
    problem = tiny_problem()
    values = problem.evaluate(problem.space.sample(5000, 0)).values
    assert 0 < (values < float("inf")).sum() < 5000
    assert len(set(values)) > 50


def test_conformance_fails_a_searcher_that_is_worse_than_random() -> None:
    class Blind(SearcherConformance):
        name = "random-walk"

        def make(self):  # claims to be guided
            searcher = super().make()
            searcher.capabilities = baselines.Capabilities()
            return searcher

    with pytest.raises(AssertionError, match="random's best"):
        Blind().test_beats_random_on_average()


def test_ppo_has_the_defaults_of_stable_baselines3() -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="ppo needs the extra `rl`")
    import inspect

    parameters = inspect.signature(sb3.PPO.__init__).parameters
    names = {
        "steps": "n_steps",
        "batch": "batch_size",
        "epochs": "n_epochs",
        "learning_rate": "learning_rate",
        "discount": "gamma",
        "entropy": "ent_coef",
    }
    config = baselines.load("ppo").config
    for ours, theirs in names.items():
        assert getattr(config, ours) == parameters[theirs].default, ours
