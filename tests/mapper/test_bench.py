"""``mapper bench``: searchers from outside are scored, files hold, and every lie is found."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from baselines import known_optimum
from cost_models import Mapping, MappingBatch
from cost_models.chain.batch import ChainBatch
from maestro_env import EnvError, Problem, bench_problems
from maestro_env.rewards import Rewards
from mapper.bench import bench_check, bench_file, bench_plan, bench_run, bench_table
from mapper.bench.bench_check import _check_value
from mapper.bench.bench_file import digest, read_file, timed_budget
from mapper.bench.bench_table import gap, table_rows
from tests.mapper.commands import json_of, printed
from tests.mapper.edited import Edit, set_at

DOCS = Path(__file__).parents[2] / "docs"

OUTSIDE = '''
from dataclasses import dataclass
import numpy as np
from baselines import BaseSearcher

@dataclass(frozen=True)
class Options:
    pass

class Climber(BaseSearcher):
    """Changes one parameter of the best mapping at a time."""
    name, source, Config = "climber", "here", Options

    def _run(self, problem, rng):
        best = problem.space.sample(1, int(rng.integers(2**31)))
        value = problem.evaluate(best).values[0]
        while True:
            near = best.repeat(100, axis=0)
            places = rng.integers(near.shape[1], size=100)
            near[np.arange(100), places] = rng.integers(problem.space.nvec[places])
            values = problem.evaluate(near).values
            if values.min() <= value:
                best, value = near[[values.argmin()]], values.min()
'''


HOW = "--quick --workers 1 --store runs.sqlite --out"
FEW = 8
LISTED = (bench_check, bench_plan, bench_run, bench_table)
"""Modules that have the list of problems."""


@pytest.fixture(autouse=True, scope="module")
def _short() -> Iterator[None]:
    """Searches of few of the problems, and of a hundredth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_file, "SECONDS", 0.01)
        for module in LISTED:
            patch.setattr(module, "bench_problems", lambda: bench_problems()[:FEW])
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Result files of random search and of a searcher from outside, and the table they print."""
    place = tmp_path_factory.mktemp("bench")
    (place / "outside_climber.py").write_text(OUTSIDE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        names = ("outside_climber:Climber", "random")
        done = printed(f"bench {names[0]} --beside {names[1]} {HOW} climber.json")
        assert all(name in done for name in names)
        printed(f"bench {names[1]} --beside none {HOW} random.json")
    return place


def test_a_searcher_of_twenty_lines_from_outside_is_scored(folder: Path) -> None:
    climber, random = (read_file(folder / f"{name}.json") for name in ("climber", "random"))
    assert len(climber.rows) == 4 * FEW
    assert 0 < gap(climber, "10000").value < gap(random, "10000").value
    assert gap(climber, "10000").value < gap(climber, "1000").value < gap(climber, "100").value
    assert timed_budget([]) == 10_000  # of what took no time
    first, second = table_rows([random, climber])
    assert {first["searcher"], second["searcher"]} == {"random", "outside_climber:Climber"}
    assert "no search made again" in printed(f"validate --bench {folder / 'climber.json'}")


def test_a_file_of_ours_is_made_again_search_by_search(folder: Path) -> None:
    said = json_of(f"validate --bench {folder / 'random.json'}")
    assert said == {"holds": True, "fault": "", "priced": 4 * FEW, "replayed": 4 * FEW}


def test_the_same_command_does_nothing_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    printed(f"bench random --beside none {HOW} again.json")
    assert read_file(folder / "again.json").rows == read_file(folder / "random.json").rows


def better_task(rows: list[dict[str, Any]]) -> None:
    """A mapping that 10,000 samples found is said to be one of 100."""
    for row in rows:
        if (row["task"], row["problem"]) == ("10000", 1):
            rows[0] |= {"value": row["value"], "action": row["action"]}


LIES: list[tuple[Edit, str]] = [
    (set_at(0, "value", 1.0), "its mapping has the value"),
    (lambda rows: set_at(0, "action", [0] * len(rows[0]["action"]))(rows), "its mapping has the v"),
    (set_at(0, "action", 0, 10**6), "problem 1, 100, seed 0: action"),
    (set_at(0, "action", None), "expected a value and an action"),
    (better_task, "the same search ends at"),
    (set_at(0, "samples", 101), "101 samples of a budget of 100"),
    (set_at(0, "budget", 1000), "expected at most 100"),
    (
        lambda rows: set_at(-1, "budget", 2 * rows[-1]["budget"])(rows),
        f"problem {FEW}, 1 s, seed 0",
    ),
    (lambda rows: rows.pop(5), f"got {4 * FEW - 1} searches"),
    (lambda rows: set_at(5, rows[4])(rows), "expected one for each"),
]


@pytest.mark.parametrize(("lie", "says"), LIES, ids=range(len(LIES)))
def test_a_lie_is_found_though_the_digest_is_right(folder, tmp_path, lie, says):
    data = json.loads((folder / "random.json").read_text())
    lie(data["rows"])
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(data | {"sha256": digest(data)}))
    assert says in printed(f"validate --bench {edited} --json", code=1)


@pytest.mark.parametrize("problem", bench_problems(), ids=lambda problem: problem.id)
def test_the_optimum_is_the_library_s_and_its_environment_rewards_it_with_one(problem):
    env = gymnasium.make(f"maestro_env:{problem.id}")
    env.reset(seed=0)
    built, mapping = env.unwrapped.problem, problem.mapping
    batch = (
        MappingBatch.from_mappings([mapping], built.layer.extents)
        if isinstance(mapping, Mapping)
        else ChainBatch.from_mappings([mapping], built.accelerator)
    )
    action = built.space.encode(batch)[0]
    assert env.step(action)[1] == pytest.approx(1.0, rel=1e-12)
    assert all(env.step(row)[1] <= 1 for row in built.space.sample(10, 0))
    if isinstance(mapping, Mapping) and (known := known_optimum(built)):
        assert problem.optimum == pytest.approx(known.value, rel=1e-12)


def test_a_reference_of_rewards_is_a_finite_number_of_one_problem() -> None:
    problem = Problem("mlp.2", "edge", "edp")
    assert Rewards(problem, reference=7.0).reference == 7.0
    for wrong in (0, -1.0, float("inf"), float("nan"), True, "7"):
        with pytest.raises(EnvError, match="reference: got"):
            Rewards(problem, reference=wrong)
    with pytest.raises(EnvError, match="for 3 layers, expected None"):
        gymnasium.make("maestro_env:MaestroEnvNetwork-v0", layers="mlp", reference=1.0)
    assert np.isfinite(Rewards(problem).reference)


def test_the_page_s_table_is_that_of_its_result_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({problem.id for problem in bench_problems()}) == 30
    for module in LISTED:
        monkeypatch.setattr(module, "bench_problems", bench_problems)
    monkeypatch.syspath_prepend(str(DOCS))
    import make_bench

    kept = (DOCS / "bench.md").read_text(encoding="utf-8")
    assert make_bench.page() == kept, "run: python docs/make_bench.py"
    for path in make_bench.FILES:
        found = read_file(path)
        assert found.searcher.label == path.stem
        for row in found.rows[::9]:
            _check_value(row)
