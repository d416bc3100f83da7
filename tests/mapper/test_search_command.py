"""``mapper search``: what it prints, writes, and does when it is stopped."""

import errno
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import baselines
from baselines.ga import GeneticAlgorithm
from cost_models import Accelerator, Mapping
from maestro_env import OBJECTIVES, Problem
from mapper.show.cost import bounds_of
from marl_runs import Store
from tests.mapper.commands import json_of, printed, refused, said, stopping

LAYER = "mobilenetv2.2"
SEARCH = f"search --layer {LAYER} --budget 300 --method ga"


search, search_json = partial(said, SEARCH), partial(json_of, SEARCH)


def test_the_bounds_of_a_mapping_whose_tensors_pass_a_level_are_below_it() -> None:
    problem = Problem("mlp.2", space={"full": True})
    mapping = Mapping(
        orders=("KCYXRS", "KCYXRS"),
        parallel=("C", "C"),
        tiles=(dict(zip("KCYXRS", (10, 1, 1, 1, 1, 1), strict=True)), dict.fromkeys("KCYXRS", 1)),
        cluster_size=10,
        bypass=(frozenset({"input", "filter"}), frozenset({"output"})),
    )
    model, layer, chip = problem.cost_model, problem.layer, problem.accelerator
    cost = model.evaluate(layer, chip, mapping)
    bounds = bounds_of(model, layer, chip, mapping)
    assert bounds["energy_nj"] <= cost.energy_nj < bounds_of(model, layer, chip, None)["energy_nj"]


@pytest.mark.parametrize(
    ("layer", "space"),
    [
        ("mlp.2", "full=true"),
        ("conv:K=4,C=4,Y=9,X=9,R=3,S=3,dilation=2", "parallel=KCYX"),
        ("gemm:M=4,N=4,K=4,batch=2", "parallel=N"),
    ],
)
def test_what_maestro_has_no_words_for_is_written_too(
    layer: str, space: str, tmp_path: Path
) -> None:
    (tmp_path / "mapping.m").write_text("of another mapping")
    found = search_json(*f"-l {layer} --space {space} --no-proof --out {tmp_path}".split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "mapping.yaml"]
    again = json_of(f"evaluate -l {layer} --mapping {tmp_path}/mapping.yaml")
    assert again["costs"]["exact"]["latency_cycles"] == found["best"]["latency_cycles"]
    assert "MAESTRO" in refused(f"export {tmp_path} --to maestro --out {tmp_path}")


@pytest.mark.parametrize("objective", [*OBJECTIVES, "latency*area"])
def test_every_objective_has_a_result_not_below_its_bound(objective: str) -> None:
    found = search_json("--objective", objective)
    assert found["bound"] is None or found["best"]["objective"] >= found["bound"]


def test_the_manifest_makes_the_result_again() -> None:
    found = search_json("--option", "population=20", "--limit", "max_l1_bytes=400")
    manifest = found["manifest"]
    described = dict(manifest["problem"])
    described["accelerator"] = Accelerator(**described["accelerator"])
    names = ("layer", "accelerator", "objective", "cost_model", "space", "limits")
    problem = Problem(*(described[name] for name in names))
    value = problem.evaluate([manifest["best_action"]]).values[0]
    assert value == manifest["best_value"] == found["best"]["objective"]
    searcher = baselines.load(manifest["method"], **manifest["method_options"])
    again = searcher.search(problem, manifest["budget"], manifest["seed"])
    assert [list(step) for step in again.improvements] == manifest["improvements"]
    assert manifest["versions"]["marl-mapper"]


def test_text_begins_with_the_verdict_and_nothing_is_written_without_out(folder: Path) -> None:
    code, out, err = search()
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("mobilenetv2.block1_project on edge: edp ")
    assert lines[1].startswith("at most ")
    assert lines[2].startswith("limited by ")
    assert out.index("limited by") < out.index("parallel") < out.index("latency: ")
    assert "Accesses" not in out
    assert all(words in err for words in ("300 of 300 samples", "samples/s", "% infeasible"))
    assert not any(sign in out + err for sign in ("\x1b", "\r"))  # this is no terminal
    verbose = printed(SEARCH, "--verbose")
    for words in ("x bound", "x the physical bound", "Accesses", "PEs at work", "L1 of a PE"):
        assert words in verbose
    assert search("--json")[2] == ""
    assert list(folder.iterdir()) == []


def test_out_holds_the_last_mapping_that_evaluates_to_the_same_cost(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "result"
    for seed in "12":
        found = search_json("--out", str(folder), "--seed", seed)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["manifest.json", "mapping.m", "mapping.yaml"]
    assert json.loads((folder / "manifest.json").read_text()) == found["manifest"]
    for option, file in (("--mapping", "mapping.yaml"), ("--dataflow", "mapping.m")):
        cost = json_of(f"evaluate -l {LAYER} {option} {folder / file}")["costs"]["exact"]
        for figure in ("latency_cycles", "energy_nj", "area_um2"):
            assert cost[figure] == found["best"][figure]


def test_no_feasible_mapping_is_exit_code_1_with_the_reasons(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    err = refused(SEARCH, "--l1-bytes", "1", "--out", str(folder), code=1)
    assert all(words in err for words in ("no feasible mapping", "L1"))
    assert not folder.exists()


def test_a_proof_without_a_mapping_loses_no_answer(tmp_path: Path, monkeypatch: Any) -> None:
    words = "search -l mlp.2 --l1-bytes 8 --method random --budget 1 --seed 4 --certificate"
    assert "the proof found one" in refused(words, f"{tmp_path}/a.cert", code=1)
    ended = baselines.Proof(None, float("inf"), 0.0, "timeout")
    monkeypatch.setattr(baselines, "prove", lambda *_, **__: ended)
    err = refused(words, f"{tmp_path}/b.cert", code=1)
    assert "b.cert is not written: proof: it ended (timeout)" in err
    assert "no feasible mapping of mlp.fc3 in 1 samples" in err


def test_ctrl_c_leaves_json_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    stopping(monkeypatch, 500)
    found = search_json("--budget", "1000000")
    assert 500 <= found["samples"] < 1_000_000
    assert found["manifest"]["interrupted"] is True
    assert found["best"]["objective"] == found["manifest"]["best_value"]


def test_a_search_in_a_store_is_kept_and_goes_on(tmp_path, monkeypatch):
    words = ["--budget", "2000", "--no-proof", "--store", str(tmp_path / "a?b.sqlite")]
    with monkeypatch.context() as patch:
        stopping(patch, 500)
        code, out, err = search(*words)
    assert (code, "on edge: edp" in out, "to go on: " in err) == (0, True, True)
    found, again = search_json(*words), search_json(*words)
    assert found["samples"] == 2000
    assert found == again  # kept: even the seconds are those of the search
    alone = search_json("--budget", "2000")
    assert found["best"] == alone["best"]
    assert found["manifest"]["improvements"] == alone["manifest"]["improvements"]
    assert [path.name for path in tmp_path.iterdir()] == ["a?b.sqlite"]
    with Store.open(tmp_path / "a?b.sqlite") as store:
        (run,) = store.runs()
        assert (run.samples, run.attempt) == (2000, 2)
        assert len(store.samples(run.id)[0]) == 2000
    compared = f"compare -l {LAYER} -o edp -m ga --budget 2000 --seeds 1 --no-run"
    printed(compared, "--store", str(tmp_path / "a?b.sqlite"))


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("search -l mlp.2 --method ga --budget 50 --no-proof", ("best", "objective")),
        ("search --network mlp --fuse keep --workers 1", ("none", "bound")),
        ("explore --network mlp --pes 64,128 --workers 1", ("front", 0, "least_edp_cycles_nj")),
    ],
)
def test_what_is_kept_is_of_the_prices_that_a_file_holds(tmp_path, words, place):
    prices, values = tmp_path / "prices.yaml", []
    for store, dram in (("a", 1000), ("a", 100), ("b", 100)):
        prices.write_text(f"mac: 1\nl1: 1\nl2: 6\ndram: {dram}\n", encoding="utf-8")
        kept = ("--cost-model", f"exact:energy={prices}", "--store", f"{tmp_path}/{store}.sqlite")
        value = json_of(words, *kept)
        for name in place:
            value = value[name]
        values.append(value)
    dear, cheap, alone = values
    assert cheap == alone < dear


def test_a_full_disk_loses_no_result(tmp_path, monkeypatch):
    """Where a search fails after its last sample; in the end: tests/terminal."""
    run = GeneticAlgorithm._run

    def failing(self: Any, problem: Problem, rng: Any) -> None:
        try:
            run(self, problem, rng)
        finally:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "result")

    monkeypatch.setattr(GeneticAlgorithm, "_run", failing)
    code, out, err = search("--out", str(tmp_path))
    assert code == 1
    assert "block1_project on edge: edp" in out
    assert "300 samples" in err
    assert "No space left on device" in err


@pytest.mark.usefixtures("hang_ups_heard")
def test_a_terminal_that_is_gone_loses_nothing(tmp_path: Path) -> None:
    """SIGHUP stops the search like SIGTERM; its files are written though nothing can be printed."""
    words = f"{sys.executable} -m mapper {SEARCH} --budget 2000000000 --out {tmp_path}".split()
    master, slave = os.openpty()
    with subprocess.Popen(
        words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as process:
        try:
            os.close(slave)
            shown = b""
            while b"samples/s" not in shown:
                shown += os.read(master, 4096)
            os.close(master)
            process.send_signal(signal.SIGHUP)
            assert process.wait(timeout=60) in (0, 1)
        finally:
            process.kill()  # one that does not stop would search on for days
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["interrupted"] is True
