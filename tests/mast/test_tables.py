"""The scripts of the tables: records of runs, and how an arm's learning rate is looked for."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from benchmarks.mast import plan, rates, table1


def finish(folder, cell, value, gap=None):
    """Leave the file of a finished run."""
    sets = dict(word.split("=") for word in cell.options if "=" in word)
    result = {
        "status": "finished", "seed": cell.seed, "config": {k: float(v) for k, v in sets.items()},
        "return": value, "returns": [0.5, value], "q_gap": gap, "weights": 10,
        "train_flops": 2000, "inference_flops": 20, "train_flops_executed": 2100,
        "train_cpu_s": [1.0, 2.5],
    }  # fmt: skip
    (folder / cell.file).write_text(json.dumps([result]))


def test_a_record_keeps_runs_whose_files_are_gone(tmp_path):
    cells = [plan.Cell("tag-3", "mast", 0.95, seed) for seed in range(3)]
    record = tmp_path / "record.csv"
    for cell, value in zip(cells[:2], (1.0, 2.0), strict=True):
        finish(tmp_path, cell, value, gap=-3.25)
    first = plan.recorded(record, plan.collected(cells, tmp_path), cells)
    assert [(row["seed"], row["return"], row["q_gap"]) for row in first] == [
        (0, 1.0, -3.25),
        (1, 2.0, -3.25),
    ]
    for cell in cells[:2]:
        (tmp_path / cell.file).unlink()
    finish(tmp_path, cells[1], 5.0)
    finish(tmp_path, cells[2], 3.0)
    both = plan.recorded(record, plan.collected(cells, tmp_path), cells)
    assert [(row["return"], row["q_gap"]) for row in both] == [
        (1.0, -3.25),
        (5.0, None),
        (3.0, None),
    ]
    assert both[0]["train_flops_executed"] == 2100
    assert both[0]["train_cpu_s"] == [2.5]
    assert both[0]["lr"] == pytest.approx(1e-3)
    assert plan.recorded(record, [], cells[2:]) == both[2:]


def finish_rates(rates, folder, arm, means):
    """Leave the runs of an arm, with these mean returns by rate; what is chosen from them."""
    for rate, mean in means.items():
        for seed, value in zip(rates.SEEDS, (mean - 1.0, mean + 1.0), strict=True):
            options = (*arm.options, "--lr", f"{rate:g}")
            finish(folder, replace(arm, seed=seed, options=options), value)
    return rates.with_choice(list(rates.tried(arm, folder, run=False)))


def test_rates_double_until_the_mean_return_falls(tmp_path):
    arm = plan.Cell("tag-3", "mast", 0.9, 0)
    means = {0.001: 2.0, 0.002: 4.0, 0.004: 3.75, 0.008: 9.0}
    found = finish_rates(rates, tmp_path, arm, means)
    assert [(row["lr"], row["return"], row["chosen"]) for row in found] == [
        (0.001, 2.0, 0),
        (0.002, 4.0, 1),
        (0.004, 3.75, 0),
    ]
    unended = rates.with_choice(found[:2])
    assert not any(row["chosen"] for row in unended)
    plan.write_csv(tmp_path / "rates.csv", found)
    chosen = plan.Rates(tmp_path / "rates.csv")
    assert chosen.of(arm) == 0.002
    assert chosen.of(replace(arm, options=("--without", "sm"))) == 0.002
    assert chosen.of(replace(arm, task="spread-6")) is None
    assert plan.Rates(None).of(arm) is None


def test_an_algorithm_without_rates_takes_those_of_qmix(tmp_path):
    arm = plan.Cell("tag-3", "mast", 0.9, 0)
    found = finish_rates(rates, tmp_path, arm, {0.001: 1.0, 0.002: 2.0, 0.004: 0.0})
    other = replace(arm, algorithm="ow-qmix")
    plan.write_csv(tmp_path / "rates.csv", found)
    assert plan.Rates(tmp_path / "rates.csv").of(other) == 0.002
    found += finish_rates(rates, tmp_path, other, {0.001: 3.0, 0.002: 2.0, 0.0005: 1.0})
    plan.write_csv(tmp_path / "rates.csv", found)
    chosen = plan.Rates(tmp_path / "rates.csv")
    assert (chosen.of(other), chosen.of(arm)) == (0.001, 0.002)


def test_rates_are_halved_where_a_higher_one_is_worse(tmp_path):
    wide = plan.Cell("tag-3", "dense+", 0.0, 0, options=("--hidden", "256"))
    means = {0.001: 5.0, 0.002: 4.0, 0.0005: 6.0}
    found = finish_rates(rates, tmp_path, wide, means)
    assert not any(row["chosen"] for row in found), "2.5e-4 was not tried"
    found = finish_rates(rates, tmp_path, wide, {0.00025: 1.0})
    assert {row["lr"]: row["chosen"] for row in found} == {
        0.001: 0,
        0.002: 0,
        0.0005: 1,
        0.00025: 0,
    }
    plan.write_csv(tmp_path / "rates.csv", found)
    chosen = plan.Rates(tmp_path / "rates.csv")
    assert chosen.of(wide) == 0.0005
    assert chosen.of(plan.Cell("tag-3", "dense+", 0.0, 0)) is None


def test_an_interrupted_run_is_gone_on_with(tmp_path, monkeypatch):
    cell = plan.Cell("tag-3", "mast", 0.9, 0)
    asked = []

    def run(words, code):
        asked.append(words)
        return subprocess.CompletedProcess(words, code)

    finish(tmp_path, cell, 1.0)
    monkeypatch.setattr(plan.subprocess, "run", lambda words: run(words, 0))
    plan.do(cell, tmp_path, ["train"])
    assert not asked, "it is finished"
    cut = (tmp_path / cell.file).read_text().replace("finished", "interrupted")
    (tmp_path / cell.file).write_text(cut)
    assert plan.collected([cell], tmp_path) == []
    plan.do(cell, tmp_path, ["train"])
    assert asked == [[*plan.RUN, "train"]]
    monkeypatch.setattr(plan.subprocess, "run", lambda words: run(words, 130))
    with pytest.raises(SystemExit) as left:
        plan.do(cell, tmp_path, ["train"])
    assert left.value.code == 130


def test_a_run_is_told_its_rate_and_what_is_left_out(tmp_path):
    cell = plan.Cell("tag-3", "mast", 0.9, 0, options=("--without", "sm"))
    words = cell.words(tmp_path, 1000, 0.002)
    assert words[words.index("--lr") + 1] == "0.002"
    assert words[words.index("--without") + 1] == "sm"
    assert "--set" not in cell.words(tmp_path, 1000)


def test_the_smoke_schedule_has_every_arm_once(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["table1.py", "--schedule", "smoke", "--list"])
    plan.run_table(None, table1.CELLS, table1.table)
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(table1.ARMS) * len(table1.TASKS)
    assert all("--steps 6000" in line and "--seed 0" in line for line in listed)
    assert all("mast-smoke" in line and "--episodes 32" in line for line in listed)


def test_no_run_is_begun_after_one_that_does_not_end(tmp_path, monkeypatch):
    cells = [plan.Cell("tag-3", "mast", 0.9, seed) for seed in range(5)]
    begun = []

    def run(words):
        begun.append(words)
        return subprocess.CompletedProcess(words, 130 if len(begun) == 2 else 0)

    monkeypatch.setattr(plan.subprocess, "run", run)
    with pytest.raises(SystemExit) as left:
        plan.do_all(cells, tmp_path, {cell: [str(cell.seed)] for cell in cells}, workers=1)
    assert left.value.code == 130
    assert len(begun) == 2
    begun.clear()
    plan.do_all(cells[:1], tmp_path, {cells[0]: ["0"]}, workers=2)
    assert begun == [[*plan.RUN, "0"]]
