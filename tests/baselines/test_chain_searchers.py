"""Searchers on chips of any depth."""

import math

import numpy as np
import pytest

import baselines
from baselines import Capabilities, SearcherError
from baselines.conformance import SearcherConformance
from cost_models import CHAINS, Axis, Chain, ChainLevel, Fanout, Widths
from layers import Layer, LayerKind
from maestro_env import Problem
from tests.baselines.test_conformance import NEEDS, conformance, missing

TINY = Layer("tiny", LayerKind.CONV, K=3, C=2, Y=3, X=1, R=1, S=1)
QUICK = ("random", "random-walk", "ga", "gamma", "annealing", "local", "cross-entropy", "expert")


def chip(memories: int) -> Chain:
    """A small chip whose last memory feeds two MACs."""
    levels = [ChainLevel(name="DRAM", read_bw=16, write_bw=16)]
    for place in range(memories):
        last = place == memories - 1
        levels.append(
            ChainLevel(
                name=f"M{place}",
                shared_bytes=max(64 >> place, 12),
                double_buffer=(False, False, False),
                read_bw=None if last else 32,
                fanout=Fanout((Axis(2, "KC"),) if last else ()),
            )
        )
    return Chain(tuple(levels), widths=Widths(8, 8, 8, 16))


def tiny_problem(memories: int) -> Problem:
    """A problem of which `exhaustive` knows the optimum."""
    only = {f"M{place}.order": ["KCY", "YKC"] for place in range(memories)}
    return Problem(TINY, chip(memories), "edp", "exact", {"only": only})


def problems(self: SearcherConformance) -> list[Problem]:
    return [
        Problem("resnet18.5", "eyeriss-rs"),
        Problem("mobilenetv2.2", "nvdla-cacc"),
        Problem("mobilenetv2.2", "simba"),
    ]


def finds(self: SearcherConformance) -> None:
    if self.make().capabilities.fixed:
        return
    for memories in (1, 2):
        proof = baselines.load("exhaustive").search(tiny_problem(memories), 10**9, 0)
        assert proof.proven
        found = self.make().search(tiny_problem(memories), self.tiny_budget, 0)
        assert math.isclose(found.best_value, proof.best_value, rel_tol=1e-12)


for _name in QUICK:
    body = {"problems": problems, "test_finds_the_optimum_of_a_tiny_layer": finds}
    globals().update(conformance(_name, "OnChains", compared=300, seeds=2, **body))


@pytest.mark.parametrize("name", baselines.names())
def test_a_hundred_samples_find_a_mapping(name: str) -> None:
    if missing(name):
        pytest.skip(f"{name} needs {NEEDS[name]}")
    searcher = baselines.load(name)
    capabilities = searcher.capabilities
    if capabilities.proves_optimum or capabilities.on_request or name == "auto":
        return
    budget = 30 if name == "bo" else 100
    chips = list(CHAINS)[QUICK.index(name) % 3 :: 3] if name in QUICK else ["eyeriss-rs"]
    for chip_name in chips:
        problem = Problem("resnet18.2", chip_name)
        result = searcher.search(problem, budget, 0)
        assert math.isfinite(result.best_value), (name, chip_name)
        assert result.mapping is not None
        assert result.gap > 0


def test_what_knows_two_levels_alone_says_so() -> None:
    searcher = baselines.load("random")
    type(searcher).capabilities, all_chips = Capabilities(any_depth=False), searcher.capabilities
    try:
        with pytest.raises(SearcherError, match="takes chips of two levels, L2 and L1"):
            searcher.search(Problem("resnet18.5", "simba"), 10, 0)
    finally:
        type(searcher).capabilities = all_chips


@pytest.mark.parametrize("method", ["zero-shot", "marl", "auto"])
def test_trained_agents_begin(method: str) -> None:
    first = {}
    for name in (method, "random"):
        problem, values = Problem("resnet18.5", "simba"), list[float]()
        problem.on_evaluate = lambda _, found, kept=values: kept.extend(found.values)
        options = {"timeout": 0.0} if name == "auto" else {}
        baselines.load(name, **options).search(problem, 65, 0)
        first[name] = float(np.median(values[:32]))
    assert first[method] < 0.1 * first["random"]


@pytest.mark.parametrize(("pretrained", "method"), [("auto", "marl"), ("none", "ga")])
def test_auto_searches_where_there_are_no_bounds(pretrained: str, method: str) -> None:
    searcher = baselines.load("auto", seconds=0.0, pretrained=pretrained)
    full = {"full": True}
    mine = searcher.search(Problem("resnet18.5", "simba", space=full), 120, 3)
    theirs = baselines.load(method).search(Problem("resnet18.5", "simba", space=full), 120, 3)
    assert mine.best_value == theirs.best_value
    assert mine.bound is not None


def test_exhaustive_visits_each_nest_once() -> None:
    problem = tiny_problem(2)
    seen: list[np.ndarray] = []
    problem.on_evaluate = lambda actions, _: seen.append(actions.copy())
    result = baselines.load("exhaustive").search(problem, 10**9, 0)
    assert result.proven
    every = problem.look(problem.space.sample(3000, 0)).values
    assert result.best_value <= every.min()
    actions = np.concatenate(seen)
    assert len(np.unique(actions, axis=0)) == len(actions)
