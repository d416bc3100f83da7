"""Callbacks, ends before the budget's, and boards read by the real libraries."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import marl_mapper
from mapper.cli import app
from runs import BoardError, MetricBoard, check_board

TINY = "conv:K=4,C=4,Y=6,X=6,R=3,S=3"


def test_every_batch_is_seen_and_an_end_is_exact():
    seen = []
    found = marl_mapper.map(
        TINY, method="random", budget=3000, on_batch=lambda problem: seen.append(problem.samples)
    )
    assert seen == sorted(seen)
    assert seen[-1] == found.result.samples == 3000
    last = found.result.improvements[-1][0]
    early = marl_mapper.map(TINY, method="random-walk", budget=3000, patience=40)
    assert early.result.samples < 3000
    assert early.result.samples - early.result.improvements[-1][0] >= 40
    assert last >= 1


def test_time_ends_a_search_and_a_proof():
    assert marl_mapper.map(TINY, method="ga", budget=10**9, timeout=0.05).cost.feasible
    assert marl_mapper.map(TINY, timeout=5.0).gap == 0
    for wrong in ({"timeout": -1.0}, {"patience": 0}):
        with pytest.raises(ValueError, match="got"):
            marl_mapper.map(TINY, method="ga", **wrong)


def test_tensorboard_reads_what_a_search_drew(tmp_path):
    pytest.importorskip("tensorboardX", reason="needs the extra log")
    words = ["search", "--layer", TINY, "--method", "random", "--budget", "200", "--no-proof"]
    done = CliRunner().invoke(app, [*words, "--log", f"tensorboard:{tmp_path}"])
    assert done.exit_code == 0, done.output
    (folder,) = tmp_path.iterdir()
    assert "random_on" in folder.name
    (events,) = folder.iterdir()
    assert b"best" in events.read_bytes()


def test_mistakes_are_named(tmp_path):
    for wrong in ("board:here", "mlflow:", "tensorboard"):
        with pytest.raises(BoardError, match="expected tensorboard:FOLDER or mlflow:FOLDER"):
            check_board(wrong)
    done = CliRunner().invoke(app, ["search", "--layer", TINY, "--log", "x:y"])
    assert done.exit_code == 2
    with MetricBoard(None, "nothing") as board:
        board.add("best", 1.0, 1)
