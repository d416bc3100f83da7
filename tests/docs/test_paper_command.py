"""``python -m benchmarks``: its names, its options, and that a killed run goes on."""

import csv
import io
import json
import sys
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.paper import curves

ROOT = Path(__file__).parents[2]
pytest.importorskip("torch")

FEW = ("--quick", "--only", "fig7", "--budget", "64", "--cost-models", "exact", "--seeds", "2")


def run(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    assert not benchmarks.main()


def refused(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What is said, in this process, of words that are refused."""
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    with redirect_stderr(io.StringIO()) as err, pytest.raises(SystemExit) as ended:
        benchmarks.main()
    assert ended.value.code == 2
    return err.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("papers",), "got 'papers', expected one of bench_problems, "),
        (("paper", "--only", "fig8"), "--only: invalid choice: 'fig8' (choose from"),
        (("paper", "--seeds", "0"), "got 0, expected at least 1"),
        (("paper", "--cost-models", "simulator"), "--cost-models: invalid choice: 'simulator'"),
        (("mpe", "--minutes", "nan"), "got nan, expected at least 0"),
        (("mpe", "--only", "figure6"), "--only: invalid choice: 'figure6'"),
    ],
)
def test_bad_words_end_with_one_line(words, said, monkeypatch) -> None:
    assert said in refused(monkeypatch, *words)


@pytest.mark.usefixtures("one_format")
def test_a_killed_run_goes_on_and_ends_with_the_same_table(tmp_path, monkeypatch) -> None:
    """What is killed leaves lines of finished searches, and a part of the next one."""
    runs = {name: tmp_path / f"{name}.jsonl" for name in ("whole", "killed")}

    def table(name: str) -> str:
        where = ("--runs", str(runs[name]), "--data", str(tmp_path / name))
        run(monkeypatch, ["paper", *FEW, *where, "--figures", str(tmp_path / "figures")])
        return (tmp_path / name / "paper-fig7.csv").read_text(encoding="utf-8")

    whole = table("whole")
    lines = runs["whole"].read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    monkeypatch.setattr(curves, "redraw", lambda *_: None)  # one picture is enough
    runs["killed"].write_bytes(lines[0] + b'{"key":"cut o')
    assert table("killed") == whole
    again = runs["killed"].read_bytes()
    assert again.startswith(lines[0])
    assert again.count(b"\n") == 4
    assert len(list(csv.DictReader(whole.splitlines()))) == 4


def test_a_file_of_finished_searches_that_is_none_ends_with_one_line(tmp_path, monkeypatch):
    runs = tmp_path / "runs.jsonl"
    runs.write_text('{"key":"a"}\n[1]\n{"key":"b"}\n', encoding="utf-8")
    said = refused(monkeypatch, "paper", "--list", "--runs", str(runs))
    assert f"{runs}, line 2: expected a JSON object with 'key'" in said


def test_a_measurement_is_made_once_and_not_after_the_time(tmp_path: Path) -> None:
    from benchmarks.mpe.kept_lines import Places

    made: list[int] = []

    def measure() -> dict[str, int]:
        made.append(len(made))
        return {"ms": made[-1]}

    def places(until: float = np.inf) -> Places:
        return Places(tmp_path / "lines", tmp_path / "db", tmp_path, tmp_path, until)

    assert places().kept("one", measure) == {"ms": 0}
    late = places(until=0.0)
    assert late.kept("one", measure) == {"ms": 0}
    assert late.kept("two", measure) is None
    assert places().kept("two", measure) == {"ms": 1}
    assert len((tmp_path / "lines").read_text(encoding="utf-8").splitlines()) == 2


def test_layers_too_few_for_a_verdict_get_none() -> None:
    from benchmarks.paper.effort import compared

    low, high = [np.array([1.0, 1.1])] * 8, [np.array([2.0, 2.1])] * 8
    rows = compared([(low, high), (low[:4], high[:4]), (low[:2], high[:2]), ([], [])])
    assert [row["verdict"] for row in rows] == ["lower", "", "", ""]
    assert [row["to"] != "" for row in rows] == [True, True, False, False]
    assert rows[0]["ratio"] < rows[0]["to"] < 1.0
    assert rows[3]["ratio"] == ""


def test_a_line_tells_what_the_samples_do() -> None:
    """Bests, mean returns and arrivals of a line beside those of every sample."""
    from benchmarks.paper.found import STEP, WINDOW, found_of, summary
    from benchmarks.paper.searches import Samples, Search

    rng = np.random.default_rng(0)
    count = 4_000
    values = 1e6 * (1.0 + np.exp(-np.arange(count) / 800.0)) * rng.uniform(1.0, 2.0, count)
    values[rng.random(count) < 0.3] = np.inf
    ends = np.arange(8, count + 1, 8)
    samples = Samples(values, np.empty((0, 1)), np.stack([ends, ends / 1e3], 1), False, 4.5)
    search = Search("vgg16.1", "latency", "random", budget=count)
    found = found_of(json.loads(json.dumps(summary(search, samples, {}))))
    assert found.best == pytest.approx(values.min(), rel=1e-8)
    for part in (1, 100, 2_000):
        value = values[:part].min()
        if np.isfinite(value):
            assert found.arrival(value) == np.flatnonzero(values <= value)[0] + 1
    assert found.best_at(1.0) == pytest.approx(values[:1_000].min(), rel=1e-8)
    assert found.best_at(0.001) == np.inf
    reference = 0.9 * values.min()
    returns = np.where(np.isfinite(values), reference / values, 0.0)
    assert found.last_return(reference) == pytest.approx(returns[-WINDOW:].mean(), rel=1e-4)
    means = np.convolve(returns, np.ones(WINDOW) / WINDOW, "valid")
    level = 0.95 * means.max()
    arrived = found.return_arrives(reference, level)
    assert means[: int(arrived) - WINDOW].max() < level + 2 * STEP
    assert means[int(arrived) - WINDOW] >= level - 1e-3


def test_a_seeded_search_spends_its_proposals_and_begins_with_them() -> None:
    sys.path.insert(0, str(ROOT))
    from benchmarks.paper.portfolio import Portfolio, SeededGa
    from maestro_env import Problem

    for searcher, proposed in ((Portfolio(), 16), (SeededGa(), 32)):
        problem, seen = Problem("mobilenetv2.2", "edge", "edp"), []
        problem.on_evaluate = lambda batch, evaluation, seen=seen: seen.append(len(batch))
        result = searcher.search(problem, 400, 0)
        assert result.samples == sum(seen) == 400
        assert sum(seen[: np.flatnonzero(np.cumsum(seen) == proposed)[0] + 1]) == proposed
        short = searcher.search(Problem("mobilenetv2.2", "edge", "edp"), 8, 0)
        assert short.samples == 8
