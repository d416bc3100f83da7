"""The scripts of the tables: records of runs, and how an arm's learning rate is looked for."""

from dataclasses import replace

import pytest

from benchmarks.frame import DATA, grouped, known, write
from benchmarks.mast import plan, rates, table1
from marl_runs import Store
from mast.experiment import ValueTraining

STEPS = rates.STEPS


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


def finish(store, cell, value, gap=None):
    """Leave a finished run, which did not train, in a store."""
    result = {
        "samples": STEPS, "best_value": -value, "return": value, "returns": [0.5, value],
        "q_gap": gap, "weights": 10, "train_flops": 2000, "inference_flops": 20,
        "train_flops_executed": 2100, "train_cpu_s": [1.0, 2.5],
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ValueTraining, "run", lambda self, context: result)
        plan.finished(store, [cell.training(STEPS)])


def collected(store, cells):
    return plan.collected(store, cells, [cell.training(STEPS) for cell in cells])


def test_a_record_keeps_runs_whose_store_is_gone(tmp_path, store):
    cells = [plan.Cell("tag-3", "mast", 0.95, seed) for seed in range(3)]
    record = tmp_path / "record.csv"
    for cell, value in zip(cells[:2], (1.0, 2.0), strict=True):
        finish(store, cell, value, gap=-3.25)
    first = plan.recorded(record, collected(store, cells), cells)
    gaps = [(row["seed"], row["return"], row["q_gap"]) for row in first]
    assert gaps == [(0, 1.0, -3.25), (1, 2.0, -3.25)]
    with Store.open(str(tmp_path / "other.db")) as other:
        finish(other, cells[1], 5.0)
        finish(other, cells[2], 3.0)
        both = plan.recorded(record, collected(other, cells), cells)
    gaps = [(row["return"], row["q_gap"]) for row in both]
    assert gaps == [(1.0, -3.25), (5.0, None), (3.0, None)]
    assert both[0]["train_flops_executed"] == 2100
    assert both[0]["train_cpu_s"] == [2.5]
    assert both[0]["lr"] == pytest.approx(1e-3)
    assert plan.recorded(record, [], cells[2:]) == both[2:]


def finish_rates(store, arm, means):
    """Leave the runs of an arm, with these mean returns by rate; what is chosen from them."""
    for rate, mean in means.items():
        for seed, value in zip(rates.SEEDS, (mean - 1.0, mean + 1.0), strict=True):
            options = (*arm.options, "--lr", f"{rate:g}")
            finish(store, replace(arm, seed=seed, options=options), value)
    return rates.with_choice(list(rates.tried(arm, store, run=False)))


def chosen_from(folder, found):
    write(folder / "rates.csv", found[0], found)
    return plan.Rates(folder / "rates.csv")


ARM = plan.Cell("tag-3", "mast", 0.9, 0)


@pytest.mark.parametrize("file", ["mast-rates.csv", "mast-wide-rates.csv"])
def test_kept_rates_double_or_halve_until_the_mean_return_falls(file):
    for own in grouped(known(DATA / file), "algorithm", "task", "arm").values():
        rows = [{"lr": float(row["lr"]), "return": float(row["return"])} for row in own]
        for place, row in enumerate(rows):
            before = {one["lr"]: one["return"] for one in rows[:place]}
            assert rates.next_rate(before) == row["lr"]
            assert not before or not any(r["chosen"] for r in rates.with_choice(rows[:place]))
        assert [str(row["chosen"]) for row in rates.with_choice(rows)] == [r["chosen"] for r in own]


def test_an_algorithm_without_rates_takes_those_of_qmix(tmp_path, store):
    found = finish_rates(store, ARM, {0.001: 1.0, 0.002: 2.0, 0.004: 0.0})
    other = replace(ARM, algorithm="ow-qmix")
    chosen = chosen_from(tmp_path, found)
    assert chosen.of(other) == chosen.of(replace(ARM, options=("--without", "sm"))) == 0.002
    assert chosen.of(replace(ARM, task="spread-6")) is plan.Rates(None).of(ARM) is None
    assert chosen.of(replace(ARM, options=("--hidden", "256"))) is None
    found += finish_rates(store, other, {0.001: 3.0, 0.002: 2.0, 0.0005: 1.0})
    chosen = chosen_from(tmp_path, found)
    assert (chosen.of(other), chosen.of(ARM)) == (0.001, 0.002)


def test_a_run_has_its_rate_and_what_is_left_out():
    cell = plan.Cell("tag-3", "mast", 0.9, 0, options=("--without", "sm"))
    config = cell.training(1000, 0.002).config
    assert (config.lr, config.without, config.sparsity) == (0.002, ("sm",), 0.9)
    assert config.backend == "compiled"
    tiny = plan.Cell("tag-3", "tiny+", 0.95, 0, options=("--left-dense", "none")).training(1000)
    assert (tiny.config.backend, tiny.config.lr) == ("masked", pytest.approx(1e-3))


def test_the_smoke_schedule_has_every_arm_once(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr("sys.argv", ["table1.py", "--quick", "--store", str(tmp_path / "runs.db")])
    monkeypatch.setattr(plan, "finished", lambda store, runs, workers: begun.extend(runs))
    plan.runs_table(None, table1.CELLS, lambda rows: rows).run()
    assert len(begun) == len(table1.ARMS) * len(table1.TASKS)
    assert {(run.budget, run.seed, run.episodes) for run in begun} == {(6000, 0, 32)}


def test_a_table_is_made_of_the_runs_that_a_store_has(tmp_path, monkeypatch):
    cells = [plan.Cell("tag-3", "dense+", 0.0, 0), plan.Cell("tag-3", "mast", 0.9, 0)]
    path, made = tmp_path / "runs.db", []
    words = ["--collect", "--steps", str(STEPS), "--store", str(path)]
    monkeypatch.setattr("sys.argv", ["some", *words])
    with Store.open(str(path)) as store:
        finish(store, cells[1], 4.0)
    plan.runs_table(None, cells, lambda rows: made.extend(rows) or rows).run()
    assert [(row["arm"], row["return"]) for row in made] == [("mast 0.9", 4.0)]
