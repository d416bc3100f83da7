import json

import pytest
from typer.testing import CliRunner

from mapper.commands.runs import app
from runs import SilentReporter, Store, StoreError, run_all
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


def test_mistakes_are_named(path, tmp_path):
    missing = call("list", "--store", str(tmp_path / "no.sqlite")).exception
    assert isinstance(missing, StoreError)
    assert isinstance(call("show", "77", "--store", path).exception, StoreError)
    wrong = call("list", "--status", "finishd", "--store", path).exception
    assert "Did you mean 'finished'" in str(wrong)


@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        ({"pretrained": "auto", "varied": True}, {}, True),  # zero-shot
        ({"pretrained": "auto", "proposed": 32}, {}, True),  # marl
        ({"pretrained": "none", "proposed": 32}, {"pretrained": "none"}, False),
        ({"pretrained": "auto", "proposed": 32}, {"proposed": 32}, False),
        ({"pretrained": "auto", "proposed": 64}, {}, False),
        ({"population": 150}, {}, False),
    ],
)
def test_searches_with_a_judge_are_said_to_count_as_in_0_2(config, options, said):
    from mapper.commands.runs import counted_as_in_0_2

    assert counted_as_in_0_2({"config": config, "options": options}) is said
