"""Callbacks, ends before the budget's, and boards read by the real libraries."""

import pytest

import marl_mapper
from tests.mapper.commands import json_of

TINY = "conv:K=4,C=4,Y=6,X=6,R=3,S=3"


def test_every_batch_is_seen_and_an_end_is_exact():
    seen = []
    found = marl_mapper.map(
        TINY, method="random", budget=3000, on_batch=lambda problem: seen.append(problem.samples)
    )
    assert seen == sorted(seen)
    assert seen[-1] == found.result.samples == 3000
    early = marl_mapper.map(TINY, method="random-walk", budget=3000, patience=40)
    assert early.result.samples < 3000
    assert early.result.samples - early.result.improvements[-1][0] >= 40


def test_time_ends_a_search_and_a_proof():
    assert marl_mapper.map(TINY, method="ga", budget=10**9, timeout=0.05).cost.feasible
    assert marl_mapper.map(TINY, timeout=5.0).gap == 0


@pytest.mark.parametrize("what", [f"--layer {TINY}", "--network mlp --store {}/s.db"])
@pytest.mark.parametrize("method", ["random", "auto"])
def test_time_and_patience_end_every_search_of_the_command_line(what, method, tmp_path):
    words = f"search {what.format(tmp_path)} --method {method} --no-proof --cost-model maestro"
    for end in ("--timeout 0.05", "--patience 300"):
        found = json_of(f"{words} --budget 50000000 {end}")
        assert all(0 < one["samples"] < 50_000_000 for one in found.get("shapes", [found]))


def drawn_by_a_search(place):
    """The rising samples and falling best values of a search that drew them there."""
    words = f"search --layer {TINY} --method random --budget 200 --no-proof"
    found = json_of(f"{words} --log {place}")
    return [tuple(pair) for pair in found["manifest"]["improvements"]]


def test_tensorboard_reads_what_a_search_drew(tmp_path):
    pytest.importorskip("tensorboardX", reason="needs the extra log")
    event_accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="needs TensorBoard"
    )
    values = drawn_by_a_search(f"tensorboard:{tmp_path}")
    (folder,) = tmp_path.iterdir()
    assert "random_on" in folder.name
    events = event_accumulator.EventAccumulator(str(folder))
    events.Reload()
    read = [(event.step, event.value) for event in events.Scalars("best")]
    assert read == [(n, pytest.approx(value)) for n, value in values]


def test_mlflow_reads_what_a_search_drew(tmp_path):
    tracking = pytest.importorskip("mlflow.tracking", reason="needs the extra log")
    values = drawn_by_a_search(f"mlflow:{tmp_path}")
    client = tracking.MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("marl-mapper")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    assert "random on" in run.info.run_name
    read = [(one.step, one.value) for one in client.get_metric_history(run.info.run_id, "best")]
    assert sorted(read) == values
