import json
import sqlite3

import pytest
from typer.testing import CliRunner

from mapper.commands.runs import app
from marl_runs import SilentReporter, Store, StoreError, run_all
from tests.mapper.toys import Walk


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        run_all([Walk(1), Walk(2, trouble="raise")], store, reporter=SilentReporter())
    return str(path)


def call(*arguments: str):
    return CliRunner().invoke(app, arguments, catch_exceptions=True)


def test_list_shows_every_run(path):
    text = call("list", "--store", path).output
    assert "walk seed 1" in text
    assert "finished" in text
    assert "walk seed 2" in text
    rows = json.loads(call("list", "--store", path, "--json").output)
    assert [(row["seed"], row["status"]) for row in rows] == [(1, "finished"), (2, "failed")]
    assert (
        len(json.loads(call("list", "--store", path, "--status", "failed", "--json").output)) == 1
    )


def test_show_has_manifest_and_result(path):
    details = json.loads(call("show", "1", "--store", path, "--json").output)
    assert details["result"]["samples"] == 50
    assert details["metrics"] == ["mean"]
    assert details["versions"]["numpy"]
    assert details["spec"]["label"] == "walk"
    assert "the toy broke" in call("show", "2", "--store", path).output


def test_rm_says_what_goes_and_removes_it(path):
    output = call("rm", "1", "--yes", "--store", path).output
    assert "1: walk seed 1 (finished, 50 samples)" in output
    assert "removed 1 run" in output
    assert len(Store.open(path).runs()) == 1
    assert isinstance(call("rm", "1", "--yes", "--store", path).exception, StoreError)


def test_rm_removes_nothing_where_nobody_can_be_asked(path):
    assert "give --yes" in str(call("rm", "1", "--store", path).exception)
    assert len(Store.open(path).runs()) == 2


@pytest.mark.parametrize(("answer", "left"), [("y\n", 1), ("n\n", 2), ("\n", 2)])
def test_rm_asks_a_person(path, monkeypatch, answer, left):
    monkeypatch.setattr("mapper.commands.runs._asked_here", lambda: True)
    result = CliRunner().invoke(app, ["rm", "2", "--store", path], input=answer)
    assert "Remove 1 run" in result.output
    assert ("nothing was removed" in result.output) is (left == 2)
    assert len(Store.open(path).runs()) == left


def test_a_search_with_a_judge_is_said_to_count_as_in_0_2(path):
    assert "samples counted as in 0.2" not in call("show", "1", "--store", path).output
    with sqlite3.connect(path) as store:
        store.execute(
            "update runs set spec = json_set(spec, '$.config', json('{\"varied\": true}'))"
        )
    assert "samples counted as in 0.2" in call("show", "1", "--store", path).output
