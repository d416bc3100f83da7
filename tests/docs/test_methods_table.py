"""The script of the tables of methods: medians over seeds, means over cases, and its checks."""

import json

import pytest

from benchmarks import marl_controls, methods_table, networks_table, table3_summary
from benchmarks.frame import DATA


def run(method, layer, seed, curve, cost_model="maestro"):
    return {
        "cost_model": cost_model, "accelerator": "edge", "layer": layer, "objective": "edp",
        "method": method, "seed": seed, "budget": 1000, "samples": 1000, "best": curve[-1][1],
        "cpu_s": 2.0, "curve": curve,
    }  # fmt: skip


def test_rows_are_medians_of_seeds_and_geometric_means_of_cases(tmp_path):
    runs = [
        *(run("marl", "vgg16.1", seed, [[1, 20.0], [5, 10.0]]) for seed in range(2)),
        run("marl", "vgg16.4", 0, [[1, 30.0], [9, 15.0]]),
        *(run("ga", "vgg16.1", seed, [[1, 90.0], [7, 40.0 + seed]]) for seed in range(3)),
        run("ga", "vgg16.4", 0, [[1, 15.0]]),
        run("ga", "vgg16.4", 1, [[1, 15.0]], cost_model="exact"),
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in [*runs, runs[0]]))
    read = methods_table.of_cases(methods_table.read([tmp_path], "maestro", 1000), "table3")
    assert len(read) == 7
    marl, ga = methods_table.method_rows(read, "maestro", 1.05)
    assert (marl["method"], ga["method"]) == ("marl", "ga")
    assert marl["EDP, geometric mean"] == pytest.approx(1.0)
    assert ga["EDP, geometric mean"] == pytest.approx((41.0 / 10.0) ** 0.5)
    assert (marl["samples to 5 %"], marl["cases within 5 %"]) == (7.0, 2)
    assert (ga["samples to 5 %"], ga["cases within 5 %"]) == ("not reached", 1)
    assert ga["marl / method"] == pytest.approx((10.0 / 41.0) ** 0.5)
    by_layer = methods_table.layer_rows(read, "maestro", 1.05)
    first = {row["method"]: row["vgg16.1"] for row in by_layer}
    assert first == {"marl": pytest.approx(1.0), "ga": pytest.approx(4.1)}


def test_a_run_below_a_proven_bound_ends_it():
    low = [run("ga", "vgg16.1", 0, [[1, 1.0]], cost_model="exact")]
    with pytest.raises(SystemExit, match="below the proven bound"):
        methods_table.references(low, "exact")


def test_the_tables_of_controls_are_made_of_the_runs_that_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["marl_controls", "--out", str(tmp_path / "marl-controls.csv")])
    marl_controls.TABLE.run()
    for name in ("marl-controls.csv", "marl-controls-pairs.csv"):
        anew, kept = ((folder / name).read_text() for folder in (tmp_path, DATA))
        assert anew == kept, f"{name}: run python -m benchmarks marl_controls"


@pytest.mark.parametrize("module", [table3_summary, networks_table])
def test_table_iii_and_the_networks_are_made_of_the_layers_that_are_kept(
    module, monkeypatch, tmp_path
):
    monkeypatch.setattr("sys.argv", ["table", "--out", str(tmp_path / "table.csv")])
    module.TABLE.run()
    kept = DATA / module.TABLE.file
    assert (tmp_path / "table.csv").read_text() == kept.read_text(), f"{kept}: make it again"
