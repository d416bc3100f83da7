"""Proofs as users meet them: the methods auto and optimal, and the proof after any other search."""

import json
import math
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import baselines
from baselines import Proof, ProofProgress, SearcherError
from baselines.conformance import TINY_ACCELERATOR, TINY_LAYER, tiny_problem
from baselines.optimal.solver import Solver
from cost_models import Accelerator
from maestro_env import Problem
from mapper.explaining.standing import of_proof, standing_kept
from mapper.search import auto
from tests.mapper.commands import json_of, said


def run(words: str) -> tuple[int, str, str]:
    return said(f"search {words}")


def run_json(words: str) -> Any:
    return json_of(f"search {words}")


def test_the_default_is_a_proof() -> None:
    code, out, err = run("-l mobilenetv2.2 --budget 3001")
    assert code == 0
    assert not any(words in err for words in ("of 3,001", "samples/s", "within 0 %"))
    assert "with auto: a first value, and a proof over 3.26e+16 mappings" in err
    assert "proven optimal: none of 3.26e+16 mappings is better" in out
    again = run_json("-l mobilenetv2.2 --seed 3")
    assert again["proof"]["optimal"] is True
    assert again["proof"]["mapping"] is None
    assert again["manifest"]["method"] == "auto"
    assert again["best"]["objective"] == again["proof"]["value"] == again["proof"]["bound"]


def test_any_search_is_told_how_far_it_is_from_the_optimum() -> None:
    words = "-l mobilenetv2.2 --method random --budget 50 --timeout 60"
    found = run_json(words)
    own, proof = found["best"]["objective"], found["proof"]
    assert proof["status"] == "optimal"
    assert proof["optimal"] is False
    assert own > proof["value"]  # the search's own answer stays what it was
    assert own == found["manifest"]["best_value"]
    assert proof["gap"] == pytest.approx(own / proof["value"] - 1)
    out = run(words)[1]
    assert "above the optimum of 2.145 J·cycles, proven over 3.26e+16 mappings" in out
    assert "the best mapping of all:" in out
    assert out.count("MACs of one PE's tile") == 2
    assert "optimum" not in run(f"{words} --no-proof")[1]
    assert run_json(f"{words} --no-proof")["proof"] is None


def test_a_proof_that_is_stopped_says_how_far_off_the_answer_may_be() -> None:
    found = run_json("-l vgg16.4 --timeout 0")
    proof = found["proof"]
    assert proof["status"] == "timeout"
    assert proof["bound"] < proof["value"] == found["best"]["objective"]
    loose = run_json("-l vgg16.4 --gap 0.3")["proof"]
    assert loose["status"] in ("within_gap", "optimal")
    assert loose["gap"] <= 0.3 / 0.7
    assert "at most" in run("-l vgg16.4 --timeout 0")[1]


@pytest.fixture
def _ctrl_c_in_a_proof(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SIGINT arrives with the third step of a proof; a stop is looked for five times a second.

    Handled as in a terminal: tests that run in the background begin with SIGINT ignored.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    steps = 0
    before = Solver.progress

    def progress(self: Solver, seconds: float) -> ProofProgress:
        nonlocal steps
        steps += 1
        if steps == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.25)
        return before(self, seconds)

    monkeypatch.setattr(Solver, "progress", progress)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_ctrl_c_in_a_proof")
@pytest.mark.parametrize("method", ["optimal", "ga"])
def test_ctrl_c_in_a_proof_gives_what_it_had_reached(method: str, tmp_path: Path) -> None:
    words = f"-l vgg16.4 -o energy --method {method} --budget 300 --timeout 600 --json"
    paths = f"--out {tmp_path / 'out'} --certificate {tmp_path / 'proof.cert'}"
    code, out, err = run(f"{words} {paths}")
    assert (code, "Traceback" in err) == (0, False)
    found = json.loads(out)
    own, proof = found["best"]["objective"], found["proof"]
    assert (proof["status"], proof["optimal"]) == ("interrupted", False)
    assert 0 < proof["bound"] < proof["value"] <= own
    assert proof["gap"] == pytest.approx(own / proof["bound"] - 1)
    problem = Problem("vgg16.4")
    other = baselines.known_optimum(problem)  # of another objective: no less than the least energy
    cost = problem.cost_model.evaluate(problem.layer, problem.accelerator, other.mapping)
    assert proof["bound"] <= cost.energy_nj
    assert "proof.cert is not written: Ctrl-C ended the proof" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["best_value"] == own


def test_seeds_and_budgets_decide_samples_and_no_clock_does() -> None:
    problem = Problem("mobilenetv2.2")
    first, second = (baselines.load("auto").search(problem, 500, 7) for _ in range(2))
    assert first.improvements == second.improvements
    assert first.samples <= 500
    found = baselines.load("optimal").search(tiny_problem(), 1, 0)
    assert (found.samples, found.proven) == (1, True)


def test_a_model_without_bounds_is_refused_by_optimal_and_searched_by_auto(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem("mlp.2", cost_model="maestro")
    with pytest.raises(SearcherError, match=r"offers no lower bounds.*'exhaustive'"):
        baselines.load("optimal").search(problem, 10, 0)
    plain = baselines.load("ga").search(problem, 300, 1)
    same = baselines.load("auto", seconds=0.0).search(problem, 300, 1)
    assert same.improvements == plain.improvements
    timed = baselines.load("auto", seconds=0.01).search(problem, 10**6, 1)
    assert timed.samples < 10**6
    assert problem.on_evaluate is None
    pytest.importorskip("torch")
    monkeypatch.setattr(auto, "SLOW", 0.0)  # a slow one is searched by marl
    mine = baselines.load("auto").search(problem, 40, 0)
    assert mine.improvements == baselines.load("marl").search(problem, 40, 0).improvements


def test_what_the_agents_know() -> None:
    assert auto.knows(Problem("mobilenetv2.2"), "auto")
    for strange in (
        Problem("mobilenetv2.2", limits={"max_l1_bytes": 300}),
        Problem("mobilenetv2.2", space={"dataflow": "nvdla"}),
        Problem("mobilenetv2.2", replace(Accelerator.load("edge"), num_pes=20_000)),
    ):
        assert not auto.knows(strange, "auto")


def test_a_problem_that_limits_make_empty_is_proven_empty() -> None:
    """Each limit alone can be kept, both together cannot."""
    problem = Problem(TINY_LAYER, TINY_ACCELERATOR, "edp")
    costs = problem.look(problem.space.sample(20_000, 0)).costs
    fits = costs.feasible
    latency = float(costs.latency_cycles[fits].min())
    energy = float(costs.energy_nj[fits].min())
    tight = {"max_latency_cycles": latency, "max_energy_nj": energy}
    both = fits & (costs.latency_cycles <= latency) & (costs.energy_nj <= energy)
    assert not both.any()
    limited = Problem(TINY_LAYER, TINY_ACCELERATOR, "edp", limits=tight)
    found = baselines.load("optimal").search(limited, 100, 0)
    assert found.proof.status == "empty"
    assert np.isinf(found.best_value)


def test_an_answer_beside_a_proof() -> None:
    optimal = of_proof(2.0, Proof(None, 2.0, 2.0, "optimal"))
    assert (optimal.optimal, optimal.gap) == (True, 0.0)
    open_end = of_proof(3.0, Proof(None, 3.0, 2.0, "timeout"))
    assert (open_end.optimal, open_end.gap, open_end.proven) == (False, 0.5, False)
    nothing = of_proof(math.inf, Proof(None, math.inf, math.inf, "empty"))
    assert (nothing.empty, nothing.gap) == (True, math.inf)
    kept = {"status": "boxes", "value": None, "bound": 1.0, "mapping": None}
    kept |= {"boxes": 3, "seconds": 0}
    problem = SimpleNamespace(best_value=math.inf)
    unknown = standing_kept(SimpleNamespace(problem=problem, result={"proof": kept}))
    assert (unknown.value, unknown.bound, unknown.gap) == (math.inf, 1.0, math.inf)
