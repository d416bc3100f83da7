"""Proofs on every chip of the library, and what an odd question is answered."""

import math

import numpy as np
import pytest

from baselines import prove
from baselines.optimal import proving
from cost_models import PRESETS
from layers import Layer
from maestro_env import Problem
from tests.baselines.proofs import brute_force, narrowed

LAYER = Layer("small", "CONV", K=3, C=2, Y=4, X=1, R=2, S=1)


@pytest.fixture(autouse=True)
def _few_first_samples(monkeypatch):
    monkeypatch.setattr(proving, "FIRST_SAMPLES", 20)


@pytest.mark.parametrize("chip", PRESETS)
def test_equal_to_brute_force_on_every_chip(chip):
    rng = np.random.default_rng(list(chip.encode()))
    objective = str(rng.choice(["edp", "latency", "energy"]))
    space = {"tiles": "divisors", "only": {"cluster_size": [2, 4]}}
    problem = narrowed(Problem(LAYER, PRESETS[chip], objective, space=space), rng, 4_000)
    best, _ = brute_force(problem)
    proof = prove(problem)
    assert proof.status == ("optimal" if math.isfinite(best) else "empty")
    assert proof.value == pytest.approx(best, rel=1e-9)
