import sys
from pathlib import Path

import numpy as np
import pytest

import baselines
from baselines import Searcher, SearcherError, SearchResult
from baselines.conformance import SearcherConformance, tiny_problem
from maestro_env import Problem


@pytest.mark.parametrize("name", baselines.names())
def test_entry_point_gives_a_searcher_of_that_name(name: str) -> None:
    searcher = baselines.load(name)
    assert isinstance(searcher, Searcher)
    assert searcher.name == name
    assert searcher.source


MINE = """
from dataclasses import dataclass

from baselines import BaseSearcher


@dataclass(frozen=True)
class Config:
    size: int = 8


class Mine(BaseSearcher):
    name = "mine"
    source = "nowhere"
    Config = Config

    def _run(self, problem, rng):
        space = problem.space
        best = space.sample(64, rng)
        while True:
            values = problem.evaluate(best).values
            best = best[[values.argmin()]].repeat(self.config.size, axis=0)
            column = rng.integers(0, best.shape[1], len(best))
            rows = range(len(best))
            best[rows, column] = rng.integers(0, space.nvec[column])
            if rng.random() < 0.1:
                best = space.sample(32, rng)


class Bare:
    def search(self, problem, budget, seed, recorded=None):
        pass


class Loose(Bare):
    name, capabilities, config = "loose", None, {"size": 3}


def function():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_searchers.py").write_text(MINE)
    (tmp_path / "my_broken.py").write_text("1 / 0")
    (tmp_path / "my_needy.py").write_text("import no_such_package")
    monkeypatch.chdir(tmp_path)
    for name in ("my_searchers", "my_broken", "my_needy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_class_of_the_working_folder_is_a_searcher(folder: Path) -> None:
    path = list(sys.path)
    searcher = baselines.load("my_searchers:Mine", size=4)
    assert searcher.config.size == 4
    assert searcher.search(Problem("mobilenetv2.2"), 50, 0).samples == 50
    assert sys.path == path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_searchers:Mien", "has no class 'Mien'. Did you mean 'Mine'"),
        ("my_searchers:function", "function is <function"),
        ("my_searchers:Bare", "lacks name, config, capabilities"),
        ("my_searchers:Loose", "expected a dataclass"),
        ("my_nothing:Mine", "there is no module 'my_nothing'"),
        ("my_searchers.sub:Mine", "there is no module 'my_searchers.sub'"),
        ("my_broken:Mine", "importing my_broken fails: ZeroDivisionError"),
        ("my_needy:Mine", "needs the module 'no_such_package'"),
        ("ga:population=3", "expected a name, or module:Class"),
        (":Mine", "expected a name, or module:Class"),
        ("my_searchers:", "expected a name, or module:Class"),
    ],
)
def test_a_class_that_is_no_searcher_is_refused(folder: Path, name: str, message: str) -> None:
    with pytest.raises(SearcherError) as caught:
        baselines.load(name)
    assert message in str(caught.value)
    with pytest.raises(SearcherError, match="unknown option 'sizes'"):
        baselines.load("my_searchers:Mine", sizes=4)
    with pytest.raises(SearcherError, match="cannot be made with"):
        baselines.load("my_searchers:Bare", sizes=4)


def test_the_conformance_suite_runs_on_such_a_class(folder: Path) -> None:
    class TestMine(SearcherConformance):
        name = "my_searchers:Mine"

    tests = [name for name in dir(TestMine) if name.startswith("test_")]
    assert len(tests) >= 9
    for name in tests:
        getattr(TestMine(), name)()


def test_a_result_holds_mapping_cost_bound_and_gap() -> None:
    problem = Problem("mobilenetv2.2", "edge", "latency")
    result = baselines.load("random").search(problem, 500, 0)
    assert result.mapping == problem.space.decode(result.best_action[None])[0]
    assert result.cost.latency_cycles == result.best_value
    assert result.bound == problem.bound
    assert result.gap == pytest.approx(result.best_value / problem.bound - 1.0)

    proof = baselines.load("exhaustive").search(tiny_problem(), 10**9, 0)
    assert proof.proven
    assert (proof.bound, proof.gap) == (proof.best_value, 0.0)

    nothing = baselines.load("random").search(
        Problem("vgg16.1", "edge", limits={"max_latency_cycles": 1.0}), 10, 0
    )
    assert (nothing.mapping, nothing.cost, nothing.gap) == (None, None, None)


def test_a_result_as_third_parties_make_it_still_stands() -> None:
    old = SearchResult(np.zeros(3, np.int64), 5.0, 10, ((1, 5.0),))
    assert (old.proven, old.mapping, old.cost, old.bound, old.gap) == (
        False,
        None,
        None,
        None,
        None,
    )
