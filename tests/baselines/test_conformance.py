"""Every registered searcher against the conformance class, one test class per searcher."""

import hashlib
import json
from importlib.util import find_spec
from typing import Any

import pytest

import baselines
from baselines.conformance import SearcherConformance, digest, tiny_problem
from tests.programs import python

NEEDS = {
    "bo": "botorch",
    "tpe": "optuna",
    "cma-es": "cma",
    "ppo": "stable_baselines3",
    "ppo-matched": "stable_baselines3",
    "marl": "torch",
    "proxy": "sklearn",
}
BUDGET = 150
SETTINGS: dict[str, dict[str, Any]] = {
    # fewer fits than its defaults, which are for the quality of hundreds of samples
    "bo": {
        "options": {"startup": 16, "growth": 1.4, "candidates": 100, "local": 100},
        "budget": 20,
        "tiny_budget": 30,
        "compared": 32,
        "seeds": 1,
    },
    "tpe": {"budget": 60, "tiny_budget": 70, "compared": 80, "seeds": 1},
    # smaller rollouts than its defaults, so that it learns within a short run
    "ppo": {
        "options": {"worlds": 16, "steps": 16, "learning_rate": 3e-3},
        "budget": 300,
        "compared": 1000,
        "tiny_budget": 1000,
        "seeds": 1,
    },
    "ppo-matched": {"budget": 300, "compared": 3000, "seeds": 1},
    "marl": {"budget": 250, "compared": 250, "tiny_budget": 600, "seeds": 1},
    "zero-shot": {"seeds": 1},
    # it is for few samples, each of which fits a model
    "proxy": {
        "options": {"pretrained": "none", "drafts": 100, "proof": False},
        "budget": 8,
        "compared": 14,
        "tiny_budget": 20,
        "seeds": 1,
    },
    # real problems: tests/mapper/test_proofs.py
    "optimal": {"budget": 60, "compared": 30, "problems": lambda self: [tiny_problem()]},
    "auto": {"budget": 60, "compared": 30, "problems": lambda self: [tiny_problem()]},
    "random": {"tiny_budget": 3_000},
    "random-walk": {"tiny_budget": 3_000},
}


def missing(name: str) -> bool:
    return name in NEEDS and find_spec(NEEDS[name]) is None


def conformance(name: str, where: str = "", **body: Any) -> dict[str, type]:
    """A searcher's class of tests, by its name."""
    reason = f"{name} needs the package {NEEDS.get(name)}"
    own: dict[str, Any] = {
        "name": name,
        "budget": BUDGET,
        "pytestmark": [pytest.mark.skipif(missing(name), reason=reason)],
        "test_same_seed_same_samples_in_another_process": None,  # below, for all of them
        **SETTINGS.get(name, {}),
        **body,
    }
    title = f"Test{name.title().replace('-', '')}{where}"
    return {title: type(title, (SearcherConformance,), own)}


# what is given on request takes minutes without such settings, and has tests of its own
NAMES = [
    name
    for name in baselines.names()
    if name in SETTINGS or not baselines.load(name).capabilities.on_request
]
SUITES = []
for registered in NAMES:
    made = conformance(registered)
    SUITES += made.values()
    globals().update(made)


def test_the_same_seed_asks_for_the_same_samples_in_another_process() -> None:
    """As the classes' short runs, where these have the same problems."""
    suites = [suite for suite in SUITES if not missing(suite.name)]
    asked = [(suite.name, suite.options, suite.budget, 3) for suite in suites]
    code = (
        "import json, sys; from baselines.conformance import digest; "
        "print(json.dumps([digest(*one) for one in json.loads(sys.argv[1])]))"
    )
    said = python(code, json.dumps(asked), PYTHONHASHSEED="4321")
    for suite, one, there in zip(suites, asked, json.loads(said.splitlines()[-1]), strict=True):
        if "problems" in vars(suite):
            here = digest(*one)
        else:
            here = hashlib.sha256(suite._found()[0][2].tobytes()).hexdigest()
        assert here == there, suite.name


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
