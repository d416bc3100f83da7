"""Searching a whole network: a list of runs that take over from each other."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import baselines
import layers
from cost_models import Accelerator
from maestro_env import Problem
from mapper.commands.search_network import FILES
from mapper.marl.agents import assigned
from mapper.results.output import folder_names
from mapper.search.carry import POLICIES, POLICY
from mapper.search.network_runs import plan_network, results, shapes, totals
from mapper.search.problem_spec import ProblemSpec
from marl_common import engineering
from marl_runs import SilentReporter, Store, provenance, run_all
from tests.mapper.commands import json_of, printed, said, stopping

EDGE = Accelerator.load("edge")


def spec(layer):
    return ProblemSpec(layer, layer.name, EDGE, "edge", "edp")


def plan(budget=60, method="ga", carry=None, spec=spec, options=None):
    search = {"method": method, "budget": budget, "seed": 0, "options": options or {}}
    carry = carry or ("nearest" if method == "marl" else "nothing")
    return plan_network("mlp", spec, search, carry)


def do(planned, store, **options):
    runs = [item.run for item in planned if item.run is not None]
    outcome = run_all(runs, store, reporter=SilentReporter(), **options)
    return outcome, list(results(planned, store, outcome.kept))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "runs.sqlite") as opened:
        yield opened


def test_totals_count_each_shape_as_often_as_it_occurs_and_are_kept(store):
    first, found = do(plan(), store)
    whole = totals(found)
    assert whole["macs"] == sum(layer.macs for layer in layers.network("mlp"))
    expected = sum(r.shape.count * r.cost.latency_cycles for r in found)
    assert whole["latency_cycles"] == expected
    assert whole["edp"] == whole["latency_cycles"] * whole["energy_nj"]
    second, again = do(plan(), store)
    assert len(second.kept) == len(first.finished) == len(found)
    assert [r.cost for r in again] == [r.cost for r in found]
    assert all(r.seconds == 0 for r in again)
    assert not do(plan(budget=61), store)[0].kept


def test_one_bad_layer_does_not_stop_the_rest(store):
    bad = shapes("mlp")[1].layer

    def broken(layer):
        if layer == bad:
            raise RuntimeError("broken")
        return spec(layer)

    _, found = do(plan(spec=broken), store)
    assert [r.error for r in found] == ["", "broken", *[""] * (len(found) - 2)]
    assert all(r.cost is not None for r in found if not r.error)
    with pytest.raises(ValueError, match="Did you mean 'latency'"):
        plan(spec=lambda layer: replace(spec(layer), objective="latensy"))


def test_a_shape_takes_over_from_the_nearest_that_did_not_fail(store, monkeypatch):
    """Another order, a failure, or another search before it makes another run."""
    pytest.importorskip("torch", reason="needs the extra rl")
    planned = plan(budget=120, method="marl")
    assert planned[2].run.after == [planned[0].key, planned[1].key]
    other = plan(budget=121, method="marl")
    assert planned[2].run.carry.earlier != other[2].run.carry.earlier
    run = type(planned[0].run).run

    def failing(self, context):
        if self == planned[1].run:
            raise RuntimeError("broken")
        return run(self, context)

    monkeypatch.setattr(type(planned[0].run), "run", failing)
    _, found = do(planned, store)
    assert [bool(r.error) for r in found] == [False, True, *[False] * (len(found) - 2)]
    first, _, third = (r.found and r.found.config["warm_start"] for r in found)
    assert (first, third) == ("", str(store.folder(planned[0].key) / POLICY))
    monkeypatch.undo()
    again, found = do(planned, store)
    assert len(again.kept) == 2
    assert found[1].found.config["warm_start"] == third


def test_shared_policies_go_through_all_shapes_in_turn(store):
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    from mapper.marl import policy_transfer

    planned = plan(budget=300, method="marl", carry="shared")
    _, found = do(planned, store)
    assert not any(r.error for r in found)
    banks = [store.folder(item.key) / POLICIES for item in planned]
    heads = [
        {n: h["head"] for n, h in torch.load(bank, weights_only=True)["state"]["heads"].items()}
        for bank in banks
    ]
    assert all(set(a) <= set(b) for a, b in pairwise(heads))
    changed = [any(not torch.equal(a[n], b[n]) for n in a) for a, b in pairwise(heads)]
    assert all(changed)
    agents = [name for agent in policy_transfer.assignment_of(banks[-1]).agents for name in agent]
    assert sorted(agents) == sorted(heads[-1])
    assert do(plan(budget=300, method="marl", carry="shared"), store)[0].kept


@pytest.mark.slow
def test_a_killed_network_search_goes_on_to_the_same_table(tmp_path):
    """``kill -9`` after a shape or two; the same command then gives what an unharmed one gives."""
    pytest.importorskip("torch", reason="needs the extra rl")

    search = "search --network mlp --budget 120 --carry shared --json --out"

    def table(folder):
        found = json_of(f"{search} {folder}")
        found["totals"].pop("seconds")
        return found

    killed, whole = tmp_path / "killed", tmp_path / "whole"
    words = [sys.executable, "-m", "mapper", *search.split(), str(killed)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(killed.glob("*/manifest.json"))) >= 1:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    with Store.open(killed / "runs.sqlite") as store:
        kept = {run.key: run.ended for run in store.runs(status="finished")}
    assert 1 <= len(kept) < len(shapes("mlp"))
    assert table(killed) == table(whole)
    with Store.open(killed / "runs.sqlite") as store:
        assert kept.items() <= {run.key: run.ended for run in store.runs()}.items()
    manifests = [
        {path.parent.name: json.loads(path.read_text()) for path in folder.glob("*/manifest.json")}
        for folder in (killed, whole)
    ]
    assert len(manifests[0]) == len(manifests[1]) == len(shapes("mlp"))
    for name, manifest in manifests[0].items():
        assert manifest["improvements"] == manifests[1][name]["improvements"]


def test_what_a_search_adopts_is_what_the_one_before_handed_on(tmp_path):
    """On the same layer nothing is lost; a parameter or choice that a layer lacks is kept."""
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    bank = str(tmp_path / "policies.pt")

    def learner(layer, seed):
        from mapper.marl.batched import BatchedLearner

        searcher = baselines.load("marl", shared_policy=bank)
        problem = Problem(layer, "edge", "edp")
        agents = searcher.assignment(problem)
        return BatchedLearner(problem, agents, searcher.config, np.random.default_rng(seed))

    from mapper.marl.policy_transfer import adopt, hand_on

    def head(learner):
        return {n: w[: learner.space.nvec[r]] for r, (n, w) in enumerate(rows(learner))}

    def rows(learner):
        names = [learner.problem.space.names[c] for c in learner.columns]
        return zip(names, learner.policies.head.detach().transpose(1, 2), strict=True)

    first = learner("mobilenetv2.2", 0)
    hand_on(first.named, bank)
    again = learner("mobilenetv2.2", 1)
    adopt(again.named, bank)
    assert all(torch.equal(head(again)[name], weights) for name, weights in head(first).items())
    common = first.policies.common  # what comes behind are inputs for an agent's own choices
    shared = again.policies.trunk[:, :common]
    torch.testing.assert_close(shared, first.policies.trunk[:, :common])
    small = learner("mlp.2", 2)
    adopt(small.named, bank)
    hand_on(small.named, bank)  # learned nothing, so nothing changes
    last = learner("mobilenetv2.2", 3)
    adopt(last.named, bank)
    assert all(torch.equal(head(last)[name], weights) for name, weights in head(first).items())


SEARCH = "search --network mlp --method ga --budget"


def test_the_command_prints_a_row_a_shape_and_the_totals(folder):
    """Without a place it is kept in the working folder."""
    printed(f"{SEARCH} 60")
    assert [path.name for path in folder.iterdir()] == ["runs.sqlite"]
    words = f"{SEARCH} 60 -o latency --out deep/result"
    names = [shape.layer.name for shape in shapes("mlp")]
    found = json_of(words)
    assert [row["layer"] for row in found["shapes"]] == names
    _, out, err = said(words)
    cycles = engineering(found["totals"]["latency_cycles"], "cycles", 4)
    assert out.startswith(f"mlp: {cycles}\n")
    assert "all layers" in out
    assert f"{len(names)} of {len(names)} runs needed nothing" in err
    folders = {path.parent for path in folder.rglob("manifest.json")}
    assert {folder.name for folder in folders} == set(names)
    for folder in folders:
        files = sorted(file.name for file in folder.iterdir())
        assert files == ["manifest.json", "mapping.m", "mapping.yaml"]


def test_every_shape_has_a_folder_of_its_own_inside_that_of_the_network():
    found = folder_names(["conv/1", "conv_1", "..", "report.html", "conv1.0"], FILES)
    assert list(found.values()) == ["conv_1", "conv_1_2", ".._2", "report.html_2", "conv1.0"]


def test_ctrl_c_shows_what_is_done_and_the_best_so_far(tmp_path, monkeypatch):
    stopping(monkeypatch, 500)
    words = f"{SEARCH} 100000000 --out {tmp_path}"
    monkeypatch.setattr(sys, "argv", ["mapper", *words.split()])
    monkeypatch.setattr(provenance, "made_with", provenance.made_with.__wrapped__)
    code, out, err = said(words)
    assert code == 1
    first, *others = shapes("mlp")
    assert f"error: {first.layer.name}: interrupted" in err
    assert all(f"error: {other.layer.name}: not begun" in err for other in others)
    assert f"to go on: mapper {words}" in err
    line = next(line for line in out.splitlines() if first.layer.name in line)
    assert line.split()[2] != "-"  # the best so far
    assert not list(tmp_path.rglob("manifest.json"))


@pytest.mark.parametrize(("counted", "left"), [(False, 300), (True, 100)])
def test_the_dataset_counts_against_the_budget_only_if_asked(counted, left):
    pytest.importorskip("torch", reason="needs the extra rl")
    problem = Problem("mobilenetv2.7", "edge", "edp")
    batches = []
    problem.on_evaluate = lambda actions, evaluation: batches.append(len(actions))
    searcher = baselines.load("marl", dataset=200, count_dataset=counted)
    assert searcher.search(problem, 300, 0).samples == 300
    assert sum(n for n in batches if n != 200) == left


def test_so_many_agents_as_asked_are_clustered_from_the_dataset():
    problem = Problem("mobilenetv2.7", "edge", "edp")
    found = assigned(3, problem, 200, count_dataset=True, seed=0)
    assert len(found) == 3
    assert problem.samples == 200
