"""Everything that stands on the cost model works on every chip of the library."""

import math
from pathlib import Path

import pytest

import baselines
from baselines import can_prove
from cost_models import PRESETS
from layers import Layer
from maestro_env import Problem
from mapper.compare.plan import make_plan
from mapper.compare.run import run_plan, summarise
from mapper.report.page import render
from mapper.report.sources import from_store
from marl_runs import SilentReporter, Store

LAYER = Layer.gemm("tiny", M=4, N=2, K=2)
TEXT = "gemm:M=4,N=2,K=2"
BUDGET = 16
SLOW = {"bo", "marl", "ppo", "proxy", "marl-rllib"}
"""Searchers that take more than a second for all chips: tried by the slow test."""
QUICK = sorted(set(baselines.names()) - SLOW)


def searched(chip: str, method: str) -> baselines.SearchResult:
    """A search of the tiny layer on a chip, by all of its map space that a searcher takes."""
    free = baselines.load(method).capabilities.fixed
    space = {} if free else {"only": {"cluster_size": [1, 2]}}
    problem = Problem(LAYER, PRESETS[chip], "edp", "exact", space=space)
    result = baselines.load(method).search(problem, BUDGET, 0)
    assert problem.samples <= BUDGET
    if result.bound is not None:
        assert result.bound <= result.best_value * (1 + 1e-12)
    return result


@pytest.mark.parametrize(("place", "chip"), list(enumerate(PRESETS)))
def test_every_searcher_finds_a_mapping(place: int, chip: str) -> None:
    """Every second searcher on a chip, the others on the next one, and what proves on each."""
    proven, found = [], []
    for method in sorted({"optimal", *QUICK[place % 2 :: 2]}):
        if method == "optimal" and can_prove(Problem(LAYER, PRESETS[chip])) is not None:
            with pytest.raises(baselines.SearcherError, match="exhaustive"):
                searched(chip, method)
            continue
        result = searched(chip, method)
        assert math.isfinite(result.best_value), method
        found.append(result.best_value)
        if result.proven:
            proven.append(result.best_value)
    assert all(value >= max(proven, default=0.0) * (1 - 1e-9) for value in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "chip"), list(zip(sorted(SLOW - {"marl-rllib"}), sorted(PRESETS)[::2], strict=True))
)
def test_slow_searchers_find_a_mapping(method: str, chip: str) -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    if method == "bo":
        pytest.importorskip("botorch", reason="needs the extra bo")
    assert math.isfinite(searched(chip, method).best_value)


def test_comparisons_and_reports_hold_chips(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs the extra viz")
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    path, chips = tmp_path / "runs.sqlite", list(PRESETS)[::4]
    with Store.open(path) as store:
        for chip in chips:
            methods = ["random", "ga"]
            plan = make_plan([TEXT], ["edp"], methods, accelerator=chip, budget=60, seeds=1)
            run_plan(plan, store, reporter=SilentReporter())
            (summary,) = summarise(plan, store)
            assert all(summary.cell(case, "random").median for case in summary.cases)
    page = render(from_store(str(path)))
    assert all(f"accelerator {chip}," in page for chip in chips)
