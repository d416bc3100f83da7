import json
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
import layers
from maestro_env import Problem
from mapper.cli import app
from mapper.network import NetworkSearch, shapes, totals


def search(folder, budget=60, method="ga", problem=None, carry=None):
    return NetworkSearch(
        problem or (lambda layer: Problem(layer, "edge", "edp")),
        lambda options: baselines.load(method, **options),
        budget,
        0,
        folder,
        carry or ("nearest" if method == "marl" else "nothing"),
    )


@pytest.mark.parametrize("network", layers.networks())
def test_every_layer_belongs_to_one_distinct_shape(network):
    found = shapes(network)
    assert sum(shape.count for shape in found) == len(layers.network(network))
    bare = [shape.layer.renamed("x") for shape in found]
    assert len(set(bare)) == len(bare)


def test_totals_count_each_shape_as_often_as_it_occurs(tmp_path):
    results = list(search(tmp_path).run("resnet18"))
    whole = totals(results)
    assert whole["macs"] == sum(layer.macs for layer in layers.network("resnet18"))
    expected = sum(r.shape.count * r.cost.latency_cycles for r in results)
    assert whole["latency_cycles"] == expected
    assert whole["edp"] == whole["latency_cycles"] * whole["energy_nj"]


def test_the_same_search_again_keeps_what_is_there(tmp_path):
    first = list(search(tmp_path).run("mlp"))
    again = list(search(tmp_path).run("mlp"))
    assert not any(r.kept for r in first)
    assert all(r.kept for r in again)
    assert [r.value for r in again] == [r.value for r in first]
    assert not any(r.kept for r in search(tmp_path, budget=61).run("mlp"))


def test_one_bad_layer_does_not_stop_the_rest(tmp_path):
    bad = shapes("mlp")[1].layer

    def problem(layer):
        if layer == bad:
            raise RuntimeError("broken")
        return Problem(layer, "edge", "edp")

    results = list(search(tmp_path, problem=problem).run("mlp"))
    assert [r.error for r in results] == ["", "broken", *[""] * (len(results) - 2)]
    assert all(r.cost is not None for r in results if not r.error)


def test_marl_warms_up_one_shape_after_another(tmp_path):
    pytest.importorskip("torch", reason="needs the extra rl")
    results = list(search(tmp_path, budget=120, method="marl").run("mlp"))
    assert not any(r.error for r in results)
    manifests = sorted(tmp_path.glob("*/manifest.json"))
    options = [json.loads(path.read_text())["method_options"] for path in manifests]
    assert [bool(o["warm_start"]) for o in options].count(True) == len(results) - 1
    assert all(r.kept for r in search(tmp_path, budget=120, method="marl").run("mlp"))


def test_shared_policies_go_through_all_shapes_in_turn(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    from mapper.marl import policy_transfer

    bank = tmp_path / "policies.pt"
    heads = []

    def watched(learner, path):
        hand_on(learner, path)
        heads.append(
            {n: h["head"] for n, h in torch.load(bank, weights_only=True)["heads"].items()}
        )

    hand_on = policy_transfer.hand_on
    monkeypatch.setattr("mapper.marl.batched.hand_on", watched)
    options = {"budget": 300, "method": "marl", "carry": "shared"}
    results = list(search(tmp_path, **options).run("mlp"))
    assert not any(r.error for r in results)
    assert len(heads) == len(results)
    assert all(set(a) <= set(b) for a, b in pairwise(heads))
    changed = [any(not torch.equal(a[n], b[n]) for n in a) for a, b in pairwise(heads)]
    assert all(changed)
    agents = [name for agent in policy_transfer.assignment_of(bank).agents for name in agent]
    assert sorted(agents) == sorted(heads[-1])
    assert all(r.kept for r in search(tmp_path, **options).run("mlp"))


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
    hand_on(first, bank)
    again = learner("mobilenetv2.2", 1)
    adopt(again, bank)
    assert all(torch.equal(head(again)[name], weights) for name, weights in head(first).items())
    torch.testing.assert_close(again.policies.trunk, first.policies.trunk)
    small = learner("mlp.2", 2)
    adopt(small, bank)
    hand_on(small, bank)  # learned nothing, so nothing changes
    last = learner("mobilenetv2.2", 3)
    adopt(last, bank)
    assert all(torch.equal(head(last)[name], weights) for name, weights in head(first).items())


def test_the_command_prints_a_row_a_shape_and_the_totals(tmp_path):
    words = ["search", "--network", "mlp", "--method", "ga", "--budget", "60"]
    result = CliRunner().invoke(app, [*words, "--json", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert [row["layer"] for row in data["shapes"]] == [s.layer.name for s in shapes("mlp")]
    text = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert "all layers" in text.stdout
    assert "kept" in text.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected --layer L or --network N"),
        (["-l", "mlp.0", "--network", "mlp"], "expected --layer L or --network N"),
        (["--network", "mlq"], "mlp"),
        (["--network", "mlp", "--carry", "al"], "expected nearest, shared, nothing"),
        (["--network", "mlp", "--method", "ga", "--carry", "shared"], "only the method marl"),
        (["-l", "mlp.0", "--carry", "shared"], "give --network"),
        (["-l", "mlp.0", "--method", "ga", "--agents", "3"], "only the method marl"),
        (["-l", "mlp.0", "--method", "marl", "--agents", "99"], "expected 1.."),
        (["-l", "mlp.0", "--learner", "torch"], "expected batched or rllib"),
    ],
)
def test_bad_input_ends_with_exit_code_2(words, message):
    pytest.importorskip("torch", reason="needs the extra rl")
    result = CliRunner().invoke(app, ["search", "--budget", "10", *words])
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(("counted", "left"), [(False, 300), (True, 100)])
def test_the_dataset_counts_against_the_budget_only_if_asked(counted, left):
    pytest.importorskip("torch", reason="needs the extra rl")
    problem = Problem("mobilenetv2.7", "edge", "edp")
    batches = []
    problem.on_evaluate = lambda actions, evaluation: batches.append(len(actions))
    searcher = baselines.load("marl", dataset=200, count_dataset=counted)
    assert searcher.search(problem, 300, 0).samples == 300
    assert sum(n for n in batches if n != 200) == left
