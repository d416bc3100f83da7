import sqlite3

import pytest
from typer.testing import CliRunner

from mapper.commands.runs import app
from marl_runs import SilentReporter, Store, run_all
from tests.mapper.commands import json_of, printed, said
from tests.mapper.toys import Walk


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as store:
        run_all([Walk(1), Walk(2, trouble="raise")], store, reporter=SilentReporter())
    return str(path)


def test_list_shows_every_run(path):
    text = printed(f"runs list --store {path}")
    assert all(words in text for words in ("walk seed 1", "finished", "walk seed 2"))
    rows = json_of(f"runs list --store {path}")
    assert [(row["seed"], row["status"]) for row in rows] == [(1, "finished"), (2, "failed")]
    assert [row["seed"] for row in json_of(f"runs list --store {path} --status failed")] == [2]


def test_show_has_manifest_and_result(path):
    details = json_of(f"runs show 1 --store {path}")
    assert details["result"]["samples"] == 50
    assert details["metrics"] == ["mean"]
    assert details["versions"]["numpy"]
    assert details["spec"]["label"] == "walk"
    assert "the toy broke" in printed(f"runs show 2 --store {path}")


def test_rm_says_what_goes_and_removes_it(path):
    assert "give --yes" in said(f"runs rm 1 --store {path}")[2]  # nobody can be asked
    assert len(Store.open(path).runs()) == 2
    output = printed(f"runs rm 1 --yes --store {path}")
    assert "1: walk seed 1 (finished, 50 samples)" in output
    assert "removed 1 run" in output
    assert len(Store.open(path).runs()) == 1
    assert "not in the store" in said(f"runs rm 1 --yes --store {path}")[2]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 1), ("n\n", 2), ("\n", 2)])
def test_rm_asks_a_person(path, monkeypatch, answer, left):
    monkeypatch.setattr("mapper.commands.runs._asked_here", lambda: True)
    result = CliRunner().invoke(app, ["rm", "2", "--store", path], input=answer)
    assert "Remove 1 run" in result.output
    assert ("nothing was removed" in result.output) is (left == 2)
    assert len(Store.open(path).runs()) == left


def test_a_search_with_a_judge_is_said_to_count_as_in_0_2(path):
    show = f"runs show 1 --store {path}"
    assert "samples counted as in 0.2" not in printed(show)
    with sqlite3.connect(path) as store:
        store.execute(
            "update runs set spec = json_set(spec, '$.config', json('{\"varied\": true}'))"
        )
    assert "samples counted as in 0.2" in printed(show)
