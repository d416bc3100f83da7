import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from mapper.compare.curves import bands, ratio_bars, target_bars
from mapper.compare.entry import Board, ComparedCase, ComparedRun, collect
from mapper.compare.formats import FORMATS, as_terminal
from mapper.compare.plan import make_plan
from mapper.compare.result_tables import make_tables
from mapper.compare.run import run_plan, summarise
from mapper.compare.summary import Summary
from mapper.results.verdicts import validate
from marl_runs import SilentReporter, Store
from tests.mapper.commands import printed

BOARD = Board("exact", "edge", 100)
ONE, TWO = ComparedCase("latency", "one"), ComparedCase("latency", "two")
TINY = "conv:K=4,C=4,Y=6,X=6,R=3,S=3"


def entry(case, method, seed, best, *, curve=(), state="finished", **more):
    return ComparedRun(
        BOARD, case, method, seed, state, samples=100, best=best, curve=curve, **more
    )


@pytest.fixture
def summary() -> Summary:
    entries = []
    for seed, (a, b) in enumerate([(100.0, 200.0), (104.0, 220.0), (120.0, 300.0)]):
        for case in (ONE, TWO):
            entries.append(entry(case, "good", seed, a, curve=((10, 2 * a), (40, a)), bound=80.0))
            entries.append(entry(case, "poor", seed, b, curve=((5, b),), cpu_s=1.0))
    entries.append(entry(ONE, "none", 0, None))
    entries.append(entry(ONE, "none", 1, None, state="failed", note="it broke"))
    return Summary(BOARD, entries)


def test_medians_ratios_and_gaps(summary):
    assert summary.methods == ["good", "poor", "none"]
    assert summary.reference == "good"
    assert summary.cell(ONE, "poor").median == 220
    assert summary.ratio(ONE, "poor") == pytest.approx(220 / 104)
    assert summary.mean_ratio("latency", "poor") == pytest.approx(220 / 104)
    assert summary.gap(ONE, "good") == pytest.approx(104 / 80 - 1)
    assert summary.floor(ONE) == (80.0, "bound")
    assert summary.cell(ONE, "none").median == math.inf
    assert summary.cell(ONE, "none").lack == "1 failed"
    assert summary.cell(TWO, "none").median is None
    assert summary.mean_ratio("latency", "none") is None
    assert summary.best_known(ONE) == 100
    cells = [summary.cell(ONE, name) for name in ("good", "poor")]
    assert [(cell.to_target, cell.reached) for cell in cells] == [(40, 2), (math.inf, 0)]
    proven = entry(ONE, "exhaustive", 0, 90.0, proved=True)
    assert Summary(BOARD, [*summary.entries, proven]).floor(ONE) == (90.0, "optimum")


def test_an_exhaustive_search_with_a_large_budget_proves_the_optimum(tmp_path):
    gemm = ["gemm:M=4,N=2,K=2"]
    space = {"only": {"cluster_size": [1, 2]}}
    big = make_plan(gemm, ["latency"], ["exhaustive"], budget=10_000_000, seeds=1, space=space)
    small = make_plan(gemm, ["latency"], ["random"], budget=50, seeds=1, space=space)
    with Store.open(tmp_path / "runs.sqlite") as store:
        for plan in (big, small):
            run_plan(plan, store, reporter=SilentReporter())
        (summary,) = summarise(small, store)
        (proof,) = collect(big, store)
        assert summary.floor(summary.cases[0]) == (proof.best, "optimum")
        assert summary.gap(summary.cases[0], "random") >= 0
        assert store.samples(proof.run_id)[1].size == 0
        assert all(verdict.holds for verdict in validate(store))


def test_options_of_methods_are_read_as_those_of_a_search():
    (method,) = make_plan(["mlp.2"], ["edp"], ["ga:unit-tiles=5e-1:population=50"]).methods
    assert method.options == {"unit_tiles": 0.5, "population": 50}


def test_area_has_its_rules_however_the_product_is_written():
    plans = [make_plan(["mlp.2"], [words], ["ga"]) for words in ("latency*area", "latency * area")]
    assert plans[0] == plans[1]
    assert plans[0].problems[0].limits


def test_the_preferred_method_is_the_reference_even_if_it_is_not_the_best(summary):
    marl = [entry(case, "marl", 0, 400.0) for case in (ONE, TWO)]
    assert Summary(BOARD, [*summary.entries, *marl]).reference == "marl"


def test_numbers_of_the_plots_and_scores_of_which_infeasible_runs_have_none(summary):
    assert summary.scores("none", [ONE])[0].tolist() == [0.0]
    np.testing.assert_allclose(summary.scores("poor", [ONE])[0], [1 / 2, 100 / 220, 1 / 3])
    assert summary.iqm("none") is None
    assert summary.improvement("poor").value == 1.0
    band = bands(summary, ONE)["good"]
    assert (band.low <= band.median).all()
    assert (band.median <= band.high).all()
    assert band.median[-1] == 104
    assert band.samples[-1] == 100
    assert [bar.text for bar in ratio_bars(summary, "latency")] == ["1.00x", "2.12x", "missing"]
    assert [bar.text for bar in target_bars(summary, ONE)] == [
        "40 (2/3)",
        "not reached (0/3)",
        "not reached (0/1)",
    ]


def test_tables_name_cost_model_and_accelerator_and_what_is_missing(summary):
    tables = make_tables(summary)
    assert all("cost model exact, accelerator edge" in table.title for table in tables)
    values = tables[0]
    assert values.header == ("method", "one", "two", "geometric mean")
    assert values.rows[0] == ("good", "104 (1.00x)", "104 (1.00x)", "1.00x")
    assert values.rows[2][1] == "no mapping [1 failed]"
    assert "none failed: it broke" in values.notes


def test_a_terminal_shows_the_gaps_first_and_the_rest_on_request(summary):
    short, whole = as_terminal([summary]), as_terminal([summary], every=True)
    assert short.startswith("Gap, ")
    assert "Best " not in short
    assert "--verbose" in short.splitlines()[-1]
    assert "none failed: it broke" in short
    titles = [table.title for table in make_tables(summary)]
    assert all(whole.count(title) == 1 for title in titles)
    assert short.count("it broke") == 1
    unknown = Summary(BOARD, [replace(entry, bound=None) for entry in summary.entries])
    assert as_terminal([unknown]).startswith("Best ")
    assert "Gap" not in as_terminal([unknown])


def test_csv_and_latex_can_be_read(summary):
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"]([summary]))))
    assert [float(row["median"]) for row in rows[:3]] == [104, 220, math.inf]
    latex = FORMATS["latex"]([summary])
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") > 0
    assert r"5 \%" in latex


@pytest.mark.usefixtures("one_format")
def test_figures_are_drawn_without_warnings(summary, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    from mapper.compare.figures import write_figures

    written = write_figures(summary, tmp_path)
    assert [path.name for path in written] == [
        f"{name}-latency-exact-edge-100.png" for name in ("curves", "ratios", "targets")
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    assert len(list(tmp_path.iterdir())) == len(written)


def test_a_comparison_from_plan_to_table(tmp_path):
    plan = make_plan([TINY], ["latency"], ["random", "ga"], budget=300, seeds=2)
    with Store.open(tmp_path / "runs.sqlite") as store:
        assert [run.seed for run in plan.runs()] == [0, 0, 1, 1]  # seeds come whole first
        assert {e.state for e in collect(plan, store)} == {"missing"}
        outcome = run_plan(plan, store, reporter=SilentReporter())
        assert len(outcome.finished) == 4
        (summary,) = summarise(plan, store)
        text = FORMATS["json"]([summary])
        assert len(run_plan(plan, store, reporter=SilentReporter()).kept) == 4
        (again,) = summarise(plan, store)
        assert FORMATS["json"]([again]) == text
        for item in summary.entries:
            assert item.samples == 300
            values = store.samples(item.run_id)[1]
            assert values.min() == item.best == item.curve[-1][1]
            assert item.best >= item.bound


def test_area_comes_with_co_search_and_a_latency_limit():
    (problem,) = make_plan([TINY], ["area"], ["random"], seeds=1).problems
    assert problem.space["co_search"] == ["num_pes"]
    (latency,) = make_plan([TINY], ["latency"], ["random"], seeds=1).problems
    assert problem.limits == {"max_latency_cycles": 4 * latency.build().bound}
    assert "num_pes" in problem.build().space.names


def test_options_of_a_method():
    plan = make_plan([TINY], ["latency"], ["ga:population=50", "ga"], seeds=1)
    runs = list(plan.runs())
    assert runs[0].name == f"ga:population=50 on {TINY}, latency, exact on edge, seed 0"
    assert [run.label for run in runs] == ["ga:population=50", "ga"]
    assert runs[0].spec()["config"]["population"] == 50
    assert runs[0].identity().key != runs[1].identity().key


def test_a_class_that_no_package_registers_is_compared(tmp_path, monkeypatch):
    (tmp_path / "halves.py").write_text(
        "from baselines.random_search import RandomSearch\n\n"
        "class Half(RandomSearch):\n"
        "    name = 'half'\n"
    )
    words = f"--layers {TINY} --methods random,halves:Half --budget 60 --seeds 1 --workers 2"
    words += " --store runs.sqlite --format csv --timeout 0"
    monkeypatch.chdir(tmp_path)
    assert "halves:Half" in printed(f"compare {words}")
    with Store(str(tmp_path / "runs.sqlite")) as store:
        bests = {run.spec["label"]: run.best_value for run in store.runs()}
    assert bests["halves:Half"] == bests["random"]
