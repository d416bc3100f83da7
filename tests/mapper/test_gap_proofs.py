"""Gaps to proven optima in comparisons, and the library that holds them."""

from dataclasses import replace
from pathlib import Path

import pytest

import baselines
from baselines import OptimaError, known_optimum, problem_key, read_optima, write_optima
from baselines.optimal import known_optima
from maestro_env import Problem
from mapper.compare.gap_proofs import library_optima, prove_gaps
from mapper.compare.plan import make_plan
from mapper.compare.run import run_plan, summarise
from marl_runs import SilentReporter, Store
from tests.mapper.commands import json_of, printed

TINY = "conv:K=3,C=2,Y=3,X=1,R=1,S=1"


def test_a_comparison_proves_what_the_library_has_not(tmp_path: Path) -> None:
    plan = make_plan([TINY], ["edp"], ["random"], budget=40, seeds=1)
    quiet = SilentReporter()
    with Store.open(str(tmp_path / "s.sqlite")) as store:
        run_plan(plan, store, reporter=quiet)
        (before,) = summarise(plan, store)
        prove_gaps(plan, store, 30.0, reporter=quiet)
        (after,) = summarise(plan, store)
        again = len(store.runs())
        prove_gaps(plan, store, 30.0, reporter=quiet)
        boundless = make_plan([TINY], ["edp"], ["random"], cost_model="maestro", budget=20)
        prove_gaps(boundless, store, 30.0, reporter=quiet)
        assert len(store.runs()) == again == 2
    case = before.cases[0]
    assert before.floor(case)[1] == "bound"
    value, kind = after.floor(case)
    assert kind == "optimum"
    truth = baselines.load("optimal").search(Problem(TINY), 100, 0)
    assert value == pytest.approx(truth.best_value)
    assert after.gap(case, "random") >= 0
    assert after.methods == ["random"]


def test_optima_of_other_problems_of_the_same_name_are_left_alone(tmp_path: Path) -> None:
    """A store holds proofs under other options, with limits, and of files that were changed."""
    path, chip = tmp_path / "s.sqlite", tmp_path / "chip.yaml"
    tiny = f"-l {TINY} -o edp --store {path}"
    for number, more in enumerate(
        ("--cost-model exact:energy=maestro", "--limit max_l1_bytes=6", f"-a {chip}")
    ):
        chip.write_text(f"num_pes: {1 + number}\nl1_bytes: 512\nl2_bytes: 4096\n")
        printed(f"search {tiny} --method optimal {more}")
    chip.write_text("num_pes: 64\nl1_bytes: 512\nl2_bytes: 4096\n")
    for more in ("", f"-a {chip}"):
        words = f"{tiny} {more} -m random --budget 40 --seeds 1 --workers 1"
        printed(f"compare {words} --timeout 0 --format json")
        asked = {"budget": 40, "seeds": 1, "accelerator": str(chip if more else "edge")}
        plan = make_plan([TINY], ["edp"], ["random"], **asked)
        with Store.open(path) as store:
            (summary,) = summarise(plan, store)
        assert summary.floor(summary.cases[0])[1] == "bound"


def test_the_library_knows_the_zoo_and_nothing_else() -> None:
    known = known_optimum(Problem("mobilenetv2.2"))
    assert known.proven
    plan = make_plan(["mobilenetv2.2"], ["edp"], ["random"], budget=20, seeds=1)
    (found,) = library_optima(problem.to_dict() for problem in plan.problems).values()
    assert found == known.value  # a comparison takes it from there
    assert library_optima([{"layer": "gone"}]) == {}
    renamed = Problem(Problem("mobilenetv2.2").layer.renamed("mine"))
    assert known_optimum(renamed) == known
    for other in (
        Problem("mobilenetv2.2", objective="energy"),
        Problem("mobilenetv2.2", limits={"max_l1_bytes": 500}),
        Problem("mobilenetv2.2", space={"tiles": "divisors"}),
        Problem("mobilenetv2.2", cost_model="exact:halo_time=none"),
        Problem("mobilenetv2.2", replace(Problem("mobilenetv2.2").accelerator, num_pes=167)),
    ):
        assert problem_key(other) != known.key
        assert known_optimum(other) is None


def test_a_stale_entry_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    problem = Problem("mobilenetv2.2")
    known = known_optimum(problem)
    path = tmp_path / "optima.csv"
    write_optima(path, [known])
    (kept,) = read_optima(path).values()
    assert replace(kept, seconds=known.seconds) == known
    stale = replace(known, value=known.value * 0.99)
    monkeypatch.setattr(known_optima, "_library", lambda: {known.key: stale})
    with pytest.raises(OptimaError, match=r"stored as .*benchmarks build_optima"):
        known_optimum(problem)
    (path.with_suffix(".bad")).write_text("key,layer\nx,y\n")
    with pytest.raises(OptimaError, match="line 2"):
        read_optima(path.with_suffix(".bad"))


def test_a_network_says_how_many_answers_are_proven(tmp_path: Path) -> None:
    words = f"search --network mlp --store {tmp_path / 'n.sqlite'}"
    assert "3 of 3 shapes proven optimal" in printed(f"{words} --method optimal")
    found = json_of(f"{words} --method optimal")["shapes"]
    assert [shape["gap"] for shape in found] == [0.0, 0.0, 0.0]
    assert "proven" not in printed(f"{words} --method random --budget 20")
