"""What every searcher must satisfy, as a class of tests that third parties inherit.

Example:
    >>> from baselines.conformance import SearcherConformance
    >>> class TestMine(SearcherConformance):
    ...     name = "mine"  # as the entry point in group `mapper.searchers` calls it

Run it with pytest. Each ``test_`` method raises AssertionError with what was broken.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import subprocess
import sys
from typing import Any, ClassVar

import numpy as np

import baselines
from baselines.searcher import Searcher, SearchResult
from cost_models import Accelerator
from layers import Layer, LayerKind
from maestro_env import Problem
from marl_common import IntArray

TINY_LAYER = Layer("tiny", LayerKind.CONV, K=3, C=2, Y=3, X=1, R=1, S=1)
TINY_ACCELERATOR = Accelerator(4, l1_bytes=16, l2_bytes=80, noc_bw=3, offchip_bw=2)


def tiny_problem() -> Problem:
    """A problem of which every optimum is known by :class:`baselines.exhaustive.Exhaustive`."""
    only = {"outer_parallel": ["K", "C"], "inner_parallel": ["C", "Y"], "cluster_size": [2]}
    return Problem(TINY_LAYER, TINY_ACCELERATOR, "edp", "exact", space={"only": only})


def real_problems() -> list[Problem]:
    """Problems as people have them: limited buffers, few feasible mappings."""
    return [
        Problem("mobilenetv2.2", "edge", "edp", "exact"),
        Problem("resnet18.5", "edge", "latency", "exact"),
    ]


class SearcherConformance:
    """Tests of one searcher.

    Attributes:
        name: Name of the searcher in the registry.
        options: Its config.
        budget: Samples of the short runs.
        tiny_budget: Samples within which it finds the optimum of :func:`tiny_problem`.
        compared: Samples of each run that is compared with random search.
        seeds: Seeds over which it is compared.
    """

    name: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}
    budget: ClassVar[int] = 300
    tiny_budget: ClassVar[int] = 3000
    compared: ClassVar[int] = 1000
    seeds: ClassVar[int] = 3

    def make(self) -> Searcher:
        """A new searcher."""
        return baselines.load(self.name, **self.options)

    def problems(self) -> list[Problem]:
        """Problems of the short runs; a searcher that lists the space gets one it can finish."""
        if self.make().capabilities.enumerates:
            return [tiny_problem()]
        return real_problems()

    def test_never_over_budget(self) -> None:
        """The budget ends on its last sample, whatever the searcher's own batches are."""
        problem, result, actions, _ = self._found()[0]
        runs = {self.budget: (result, actions)}
        for budget in {1, min(37, self.budget)} - runs.keys():
            runs[budget] = _record(self.make(), problem, budget, seed=0)[:2]
        capabilities = self.make().capabilities
        for budget, (result, actions) in runs.items():
            most = min(budget, capabilities.max_samples or budget)
            assert len(actions) == result.samples, "samples and recorded actions differ"
            assert len(actions) <= most, f"{len(actions)} samples, budget {budget}"
            if not (capabilities.proves_optimum or capabilities.fixed):
                assert len(actions) == most, "the budget was not used up"

    @classmethod
    @functools.cache
    def _found(cls) -> list[tuple[Problem, SearchResult, IntArray, list[float]]]:
        """A short run of each problem, made once for a class of tests."""
        tests = cls()
        return [(p, *_record(tests.make(), p, tests.budget, seed=3)) for p in tests.problems()]

    def test_only_legal_actions(self) -> None:
        """Every action lies within the space and decodes to a mapping."""
        for problem, _, actions, _ in self._found():
            assert actions.dtype == np.int64
            assert (actions >= 0).all()
            assert (actions < problem.space.nvec).all()
            assert len(problem.space.decode(actions)) == len(actions)

    def test_same_seed_same_samples_in_another_process(self) -> None:
        """Samples depend on the seed alone, not on the process or its hash seed."""
        here = digest(self.name, self.options, self.budget, seed=5)
        code = (
            "import json, sys; from baselines.conformance import digest; "
            "print(digest(*json.loads(sys.argv[1])))"
        )
        arguments = json.dumps([self.name, self.options, self.budget, 5])
        done = subprocess.run(
            [sys.executable, "-c", code, arguments],
            env={**os.environ, "PYTHONHASHSEED": "4321"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[-1] == here, "another process asked for other samples"

    def test_state_does_not_leak_between_searches(self) -> None:
        """A search is the same after one of another seed, which asks for other samples."""
        problem, _, actions, _ = self._found()[0]
        searcher = self.make()
        other, again = (_record(searcher, problem, self.budget, seed)[1] for seed in (2, 3))
        assert np.array_equal(again, actions)
        if self.make().capabilities.guided:
            assert not np.array_equal(other, actions), "two seeds asked for the same samples"

    def test_best_so_far_never_rises(self) -> None:
        """Improvements fall, count up, and end at the best of all samples."""
        for problem, result, _, values in self._found():
            numbers = [n for n, _ in result.improvements]
            bests = [value for _, value in result.improvements]
            assert numbers == sorted(set(numbers))
            assert all(b < a for a, b in itertools.pairwise(bests))
            assert result.best_value == min(values, default=math.inf)
            if result.best_action is not None:
                again = problem.look(result.best_action[None]).values[0]
                assert again == result.best_value
                assert bests[-1] == result.best_value

    def test_the_result_says_what_was_found(self) -> None:
        """Mapping, cost and bound, where it gives them, belong to the best value."""
        for problem, result, _, _ in self._found():
            if result.best_action is None:
                continue
            found = problem.look(result.best_action[None])
            if result.mapping is not None:
                assert result.mapping == found.mappings[0], "mapping of another action"
            if result.cost is not None:
                assert result.cost == found.costs[0], "cost of another action"
            if result.bound is not None:
                assert result.bound <= result.best_value * (1.0 + 1e-12), "bound above the value"
            assert result.gap is None or result.gap >= -1e-12

    def test_save_and_resume_equals_uninterrupted(self) -> None:
        """A run cut off in its middle continues with the same samples."""
        problem, whole, actions, values = self._found()[0]
        for kept in {1, len(values) // 2, max(len(values) - 1, 1)}:
            recorded = actions[:kept], values[:kept]
            resumed, again, _ = _record(self.make(), problem, self.budget, 3, recorded)
            assert np.array_equal(again, actions), f"resumed after {kept} samples it differs"
            assert resumed.improvements == whole.improvements

    def test_finds_the_optimum_of_a_tiny_layer(self) -> None:
        """It reaches the optimum that exhaustive search proves."""
        if self.make().capabilities.fixed:
            return
        proof = baselines.load("exhaustive").search(tiny_problem(), 10**9, seed=0)
        assert proof.proven
        found = (
            self.make().search(tiny_problem(), self.tiny_budget, seed).best_value
            for seed in range(2)
        )
        assert any(math.isclose(best, proof.best_value, rel_tol=1e-12) for best in found)

    def test_beats_random_on_average(self) -> None:
        """With equal samples its best is lower, in the geometric mean over problems and seeds."""
        if not self.make().capabilities.guided:
            return
        budget = self.compared
        ratios = []
        for problem in self.problems():
            for seed in range(self.seeds):
                mine = self.make().search(problem, budget, seed).best_value
                theirs = baselines.load("random").search(problem, budget, seed).best_value
                ratios.append(math.log(mine / theirs))
        assert np.mean(ratios) < 0, f"{math.exp(np.mean(ratios)):.3f} x random's best"


def _record(
    searcher: Searcher,
    problem: Problem,
    budget: int,
    seed: int,
    recorded: tuple[Any, Any] | None = None,
) -> tuple[SearchResult, IntArray, list[float]]:
    """A search, all its actions and all its values."""
    actions: list[IntArray] = []
    values: list[float] = []

    def keep(batch: IntArray, evaluation: Any) -> None:
        actions.append(batch.copy())
        values.extend(evaluation.values.tolist())

    problem.on_evaluate = keep
    result = searcher.search(problem, budget, seed, recorded)
    problem.on_evaluate = None
    return result, np.concatenate(actions), values


def digest(name: str, options: dict[str, Any], budget: int, seed: int) -> str:
    """A digest of all actions of a search of a registered searcher."""
    searcher = baselines.load(name, **options)
    problem = tiny_problem() if searcher.capabilities.enumerates else real_problems()[0]
    actions = _record(searcher, problem, budget, seed)[1]
    return hashlib.sha256(actions.tobytes()).hexdigest()
