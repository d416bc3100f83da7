"""``python -m benchmarks``: its names, its options, and that a killed run goes on."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("torch")

FEW = ("--quick", "--only", "fig7", "--budget", "64", "--cost-models", "exact")


def command(*words: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "benchmarks", *words]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("papers",), "got 'papers', expected one of ablation, "),
        (("paper", "--only", "fig8"), "got 'fig8', expected some of table2"),
        (("paper", "--seeds", "0"), "got 0, expected a whole number of at least 1"),
        (("paper", "--cost-models", "simulator"), "got 'simulator', expected maestro or exact"),
    ],
)
def test_bad_words_end_with_one_line(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_table(tmp_path: Path) -> None:
    def words(folder: str) -> list[str]:
        where = ("--runs", str(tmp_path / folder), "--data", str(tmp_path / f"{folder}-data"))
        return ["paper", *FEW, "--seeds", "2", *where, "--figures", str(tmp_path / "figures")]

    killed = subprocess.Popen(command(*words("one")), cwd=ROOT, stderr=subprocess.DEVNULL)
    runs, limit = tmp_path / "one", time.monotonic() + 120
    while not list(runs.glob("*.npz")) and time.monotonic() < limit:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in runs.glob("*.npz")}
    assert 0 < len(kept) < 4
    for path in runs.glob("*.npz"):
        with np.load(path) as file:
            assert len(file["values"]) == 64
    assert run(*words("one")).returncode == 0
    assert run(*words("two")).returncode == 0
    for name, changed in kept.items():
        assert (runs / name).stat().st_mtime_ns == changed
    tables = [
        (tmp_path / f"{one}-data" / "paper-fig7.csv").read_text(encoding="utf-8")
        for one in ("one", "two")
    ]
    assert tables[0] == tables[1]
    assert len(list(csv.DictReader(tables[0].splitlines()))) == 4


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
