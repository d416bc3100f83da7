"""Bounds, splits of boxes, and agents do the same compiled and as their source stands."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.optimal import proving

ROOT = Path(__file__).parents[2]
COMPILED = "False False False"
SCRIPT = """
import sys
import numpy as np
from baselines import prove
from baselines.optimal import StructureSpace, kernel as splits, proving
from cost_models.exact.bounds import kernel as bounds
from mapper.pretrained import kernel as agents
from mapper.pretrained.policy import propose
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.weights import agents_of
from tests.baselines.proofs import bounds_of, boxes_around, random_problem, random_wide_problem
from maestro_env import Problem

for seed in range(2):
    rng = np.random.default_rng(seed)
    problem = (random_wide_problem if seed % 2 else random_problem)(rng, 9)
    space = StructureSpace(problem.space)
    which, boxes = boxes_around(space, problem.space.decode(problem.space.sample(12, rng)), rng)
    print(bounds_of(problem, space).bounds(which, boxes).tolist())
proving.FIRST_SAMPLES = 100
proof = prove(Problem("gemm:M=4,N=2,K=4", space={"parallel": "KC"}))
print(proof.value, proof.counts)
weights, arrays = agents_of("auto").weights, arrays_of([Problem("mlp.2")])
state = propose(weights, arrays, np.zeros(4, int), np.random.default_rng(0))
print([part.tolist() for part in state])
if "torch" in sys.argv:
    from mapper.marl.policies import Mixture, Policies, Space

    space = Space(np.array([5, 3, 7]), np.array([True, False, True]), np.array([0, 0, 1]))
    for earlier in (False, True):
        nets, rng = Policies(space, 4, 0, True, earlier), np.random.default_rng(1)
        current, acting = rng.integers(0, space.nvec, (9, 3)), rng.random((9, 3)) < 0.8
        seen = nets.observe(rng.random((9, 4)).astype(np.float32), current)
        print(Mixture(space, 0.6, 0.5).draw(nets, seen, current, acting, rng).tolist())
print(*(module.__file__.endswith(".py") for module in (splits, bounds, agents)))
"""


def test_the_same_comes_from_the_kernels_and_from_their_sources(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here, and in a process that takes the others."""
    words = [sys.executable, "-c", SCRIPT]
    if importlib.util.find_spec("torch") is not None:
        words.append("torch")
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(proving, "FIRST_SAMPLES", 100)
    exec(SCRIPT, {})
    here = capsys.readouterr().out.splitlines()
    pure = "01"[here[-1] == COMPILED]
    environment = {**os.environ, "MAPPER_PURE": pure, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    there = done.stdout.splitlines()
    assert here[:-1] == there[:-1]
    assert {here[-1], there[-1]} == {COMPILED, "True True True"}
