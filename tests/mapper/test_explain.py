import numpy as np
import pytest

from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from mapper.explaining.evolution import explain
from mapper.marl.agents import choosing
from tests.mapper.commands import json_of, printed, refused


@pytest.fixture(scope="module")
def problem():
    return Problem("mobilenetv2.7", "edge", "edp")


def test_a_parameter_settles_where_the_best_mapping_last_changed_it(problem):
    actions = np.zeros((8, len(problem.space.nvec)), np.int64)
    tile = problem.space.index("outer_tile_C")
    other = problem.space.index("inner_tile_C")
    actions[:, tile] = [1, 2, 2, 3, 2, 2, 0, 1]
    actions[5, other] = 4
    values = np.array([np.inf, 9.0, 9.5, 8.0, 7.0, 6.0, np.inf, 6.5])
    evolution = explain(problem, actions, values, None)
    settled = dict(zip(evolution.names, evolution.settled, strict=True))
    assert settled["outer_tile_C"] == 5  # 2 at first, 3 for a while, 2 again from sample 5 on
    assert settled["inner_tile_C"] == 6
    assert settled["cluster_size"] == 2  # the first feasible sample
    assert evolution.steps[-1] == 8
    last = dict(zip(evolution.names, evolution.best[-1], strict=True))
    assert (last["outer_tile_C"], last["inner_tile_C"]) == (2, 4)


def test_without_a_feasible_sample_nothing_settles(problem):
    actions = problem.space.sample(5, 0)
    evolution = explain(problem, actions, np.full(5, np.inf), None)
    assert (evolution.best == -1).all()
    assert (evolution.settled == 0).all()
    assert np.isnan(evolution.typical).all()
    assert all(row["@5"] == "-" for row in evolution.rows())


def test_rows_stand_agent_by_agent(problem):
    names = choosing(problem)
    assignment = Assignment((names[::2], names[1::2]))
    actions = problem.space.sample(300, 0)
    evolution = explain(problem, actions, problem.look(actions).values, assignment)
    rows = evolution.rows()
    assert [row["agent"] for row in rows] == [0] * len(names[::2]) + [1] * len(names[1::2])
    assert {row["parameter"] for row in rows} == set(names)


def test_proposals_are_explained_on_lists_of_levels_and_refused_where_none_fits():
    found = json_of("explain -l gemm:M=4,N=8,K=16 -a simba")
    decided = {choice["decision"].partition(".")[0] for choice in found["decisions"]}
    assert decided & {entry["level"] for entry in found["mapping"]["levels"]}
    words = "explain -l dsconv:C=11,Y=15,X=4,R=3,S=3 -a gemmini-16"
    assert "none of 64 proposals is feasible" in refused(words, code=1)


def test_the_command_explains_stored_runs(tmp_path):
    store, picture = tmp_path / "runs.sqlite", tmp_path / "evolution.svg"
    words = "compare -l mobilenetv2.7,mlp.2 -o edp -m ga,random --budget 150 --seeds 1 --timeout 0"
    printed(f"{words} --workers 1 --store {store}")
    both = f"explain 1 --beside 2 --store {store}"
    assert [len(run["parameters"]) for run in json_of(both)] == [15, 15]
    other = refused(f"explain 1 --beside 3 --store {store}")
    assert "searches mlp.2, run 1 searches mobilenetv2.7" in other
    refused(f"explain 9 --store {store}")
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    assert "all settled after" in printed(f"{both} --plot {picture}")
    assert picture.stat().st_size > 1000
