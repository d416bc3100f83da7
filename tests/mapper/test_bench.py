"""``mapper bench``: searchers from outside are scored, files hold, and every lie is found."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

from baselines import known_optimum
from cost_models import Mapping, MappingBatch
from cost_models.chain.batch import ChainBatch
from maestro_env import EnvError, Problem, bench_problems
from maestro_env.rewards import Rewards
from mapper import cli
from mapper.bench import bench_file
from mapper.bench.bench_check import _check_value, check_file
from mapper.bench.bench_file import BenchFile, digest, read_file, timed_budget
from mapper.bench.bench_run import BenchError
from mapper.bench.bench_table import gap, solved, table_rows
from marl_runs import plain

DOCS = Path(__file__).parents[2] / "docs"

OUTSIDE = '''
from dataclasses import dataclass
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
            near = best.repeat(10, axis=0)
            for row in near:
                place = rng.integers(len(row))
                row[place] = rng.integers(problem.space.nvec[place])
            values = problem.evaluate(near).values
            if values.min() <= value:
                best, value = near[[values.argmin()]], values.min()
'''


@pytest.fixture(autouse=True, scope="module")
def _short_timed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_file, "SECONDS", 0.01)
        yield


def run(*words: str) -> Any:
    return CliRunner().invoke(cli.app, list(words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Result files of random search and of a searcher from outside, and the table they print."""
    place = tmp_path_factory.mktemp("bench")
    (place / "outside_climber.py").write_text(OUTSIDE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        common = ("--quick", "--workers", "1", "--store", "runs.sqlite", "--out")
        names = ("outside_climber:Climber", "random")
        done = run("bench", names[0], "--beside", names[1], *common, "climber.json")
        assert done.exit_code == 0, done.output
        assert all(name in done.output for name in names)
        assert run("bench", names[1], "--beside", "none", *common, "random.json").exit_code == 0
    return place


def test_a_searcher_of_twenty_lines_from_outside_is_scored(folder: Path) -> None:
    assert len(OUTSIDE.strip().splitlines()) <= 24
    climber, random = (read_file(folder / f"{name}.json") for name in ("climber", "random"))
    assert len(climber.rows) == 120
    assert 0 < gap(climber, "10000").value < gap(random, "10000").value
    assert gap(climber, "10000").value < gap(climber, "1000").value < gap(climber, "100").value
    first, second = table_rows([random, climber])
    assert {first["searcher"], second["searcher"]} == {"random", "outside_climber:Climber"}
    done = run("validate", "--bench", str(folder / "climber.json"))
    assert (done.exit_code, "no search made again" in done.output) == (0, True)


def test_a_file_of_ours_is_made_again_search_by_search(folder: Path) -> None:
    done = run("validate", "--bench", str(folder / "random.json"), "--json")
    assert done.exit_code == 0
    said = json.loads(done.output)
    assert said == {"holds": True, "fault": "", "priced": 120, "replayed": 120}


def test_the_same_command_does_nothing_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = ("--quick", "--workers", "1", "--store", "runs.sqlite", "--out", "again.json")
    assert run("bench", "random", "--beside", "none", *words).exit_code == 0
    again, before = read_file(folder / "again.json"), read_file(folder / "random.json")
    assert again.rows == before.rows


def lower(rows: list[dict[str, Any]]) -> None:
    rows[0]["value"] *= 0.5


def other_mapping(rows: list[dict[str, Any]]) -> None:
    rows[0]["action"] = [0] * len(rows[0]["action"])


def illegal_mapping(rows: list[dict[str, Any]]) -> None:
    rows[0]["action"][0] = 10**6


def no_mapping(rows: list[dict[str, Any]]) -> None:
    rows[0]["action"] = None


def better_task(rows: list[dict[str, Any]]) -> None:
    """A mapping that 10,000 samples found is said to be one of 100."""
    for row in rows:
        if (row["task"], row["problem"]) == ("10000", 1):
            rows[0] |= {"value": row["value"], "action": row["action"]}


def overspent(rows: list[dict[str, Any]]) -> None:
    rows[0]["samples"] = 101


def another_budget(rows: list[dict[str, Any]]) -> None:
    rows[0]["budget"] = 1000


def more_time(rows: list[dict[str, Any]]) -> None:
    rows[-1]["budget"] *= 2


def a_row_less(rows: list[dict[str, Any]]) -> None:
    del rows[5]


def a_row_twice(rows: list[dict[str, Any]]) -> None:
    rows[5] = rows[4]


LIES: list[tuple[Callable[[list[dict[str, Any]]], None], str]] = [
    (lower, "its mapping has the value"),
    (other_mapping, "its mapping has the value"),
    (illegal_mapping, "problem 1, 100, seed 0: action"),
    (no_mapping, "expected a value and an action"),
    (better_task, "the same search ends at"),
    (overspent, "101 samples of a budget of 100"),
    (another_budget, "expected at most 100"),
    (more_time, "problem 30, 1 s, seed 0"),
    (a_row_less, "got 119 searches"),
    (a_row_twice, "expected one for each"),
]


@pytest.mark.parametrize(("lie", "says"), LIES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_lie_is_found_though_the_digest_is_right(folder, tmp_path, lie, says):
    data = json.loads((folder / "random.json").read_text())
    lie(data["rows"])
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(data))
    with pytest.raises(BenchError, match="edited: its sha256"):
        read_file(edited)
    edited.write_text(json.dumps(data | {"sha256": digest(data)}))
    with pytest.raises(BenchError, match=says):
        check_file(read_file(edited))
    assert run("validate", "--bench", str(edited)).exit_code == 1


def test_the_gap_is_that_of_the_middle_half_of_scores(folder: Path) -> None:
    data = plain(read_file(folder / "random.json").model_dump())
    for row in data["rows"]:
        optimum = bench_problems()[row["problem"] - 1].optimum
        row["value"] = None if row["problem"] > 25 else optimum * (2 if row["problem"] < 21 else 1)
    made = BenchFile.model_validate(data)
    assert gap(made, "100").value == pytest.approx(1.0)
    assert solved(made, "100") == pytest.approx(5 / 30)


def test_the_timed_budget_follows_from_samples_and_time(folder: Path) -> None:
    rows = read_file(folder / "random.json").of("10000", 3)
    seconds = sum(row.cpu_s for row in rows)
    assert timed_budget(rows) == round(0.01 * 10_000 / seconds)
    assert timed_budget([]) == 10_000


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
    known = known_optimum(built) if isinstance(mapping, Mapping) else None
    assert known is None or problem.optimum == pytest.approx(known.value, rel=1e-12)
    assert len({p.id for p in bench_problems()}) == 30


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
    monkeypatch.syspath_prepend(str(DOCS))
    import make_bench

    kept = (DOCS / "bench.md").read_text(encoding="utf-8")
    assert make_bench.page() == kept, "run: python docs/make_bench.py"
    for path in make_bench.FILES:
        found = read_file(path)
        assert found.searcher.label == path.stem
        for row in found.rows[::9]:
            _check_value(row)
