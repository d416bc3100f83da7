import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.correlation import METHODS, Correlation, correlate
from mapper.clustering.dataset import Dataset, DatasetError
from mapper.clustering.plots import cut_height
from mapper.clustering.tree import cluster
from marl_runs import BACKDROP, FigureError, save_figure
from tests.mapper.commands import printed, refused, said


def planted(n=600, seed=0):
    """Six columns: (a, b) move together, (c, d) against each other, e alone, f constant."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 12, n)
    c = rng.integers(0, 12, n)
    near = [np.clip(x + rng.integers(-1, 2, n), 0, 11) for x in (a, 11 - c)]
    columns = [a, near[0], c, near[1], rng.integers(0, 12, n)]
    columns.append(np.full(n, 3))
    return np.stack(columns, axis=1).astype(np.int64)


NAMES = ("a", "b", "c", "d", "e", "f")
ORDERED = np.zeros(6, dtype=bool)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_planted_pairs_and_what_the_first_version_gave(method):
    result = correlate(planted(), NAMES, ORDERED, method)
    assert result.constant == ("f",)
    assert cluster(result).assign(4).agents == (("a", "b"), ("c", "d"), ("e",), ("f",))
    stored = json.loads((Path(__file__).parent / "data" / "correlations.json").read_text())
    actions, flags = np.array(stored["actions"]), np.array(stored["categorical"])
    result = correlate(actions, tuple(stored["names"]), flags, method)
    np.testing.assert_allclose(result.matrix, stored["matrices"][method], rtol=0, atol=1e-11)


def test_a_missing_package_names_the_extra_that_has_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(ValueError, match=r"scikit-learn.*marl-mapper\[rl\]"):
        correlate(planted(), NAMES, ORDERED, "mutual-information")


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(3, 60), st.sampled_from(METHODS), st.integers(0, 2**32 - 1))
def test_matrix_laws(parameters, rows, method, seed):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, rng.integers(1, 9, parameters), (rows, parameters))
    names = tuple(f"p{i}" for i in range(parameters))
    matrix = correlate(data, names, rng.random(parameters) < 0.3, method).matrix
    assert np.isfinite(matrix).all()
    assert np.abs(matrix).max() <= 1.0
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 1.0)


def test_cut_matches_scipys_fcluster():
    from scipy.cluster.hierarchy import fcluster

    rng = np.random.default_rng(3)
    matrix = np.corrcoef(rng.normal(size=(12, 9)) @ rng.normal(size=(9, 9)), rowvar=False)
    names = tuple("abcdefghi")
    tree = cluster(Correlation(names, matrix, "pearson", (), 12))
    for agents in range(1, 10):
        labels = fcluster(tree.links, agents, criterion="maxclust")
        groups = {
            tuple(n for n, k in zip(names, labels, strict=True) if k == label) for label in labels
        }
        assert groups == set(tree.assign(agents).agents)
        assert len(groups) == agents


def test_thresholds_and_the_suggested_budget():
    tree = cluster(correlate(planted(), NAMES, ORDERED))
    assert len(tree.assign(threshold=0.0)) == 6
    assert len(tree.assign(threshold=100.0)) == 1
    assert tree.suggested() == 4  # two planted pairs and two loners
    assert tree.assign() == tree.assign(4)
    height = cut_height(tree, 4)
    assert tree.assign(threshold=height).agents == tree.assign(4).agents
    with pytest.raises(AssignmentError, match="not both"):
        tree.assign(2, threshold=1.0)
    for wrong in (0, 7):
        with pytest.raises(AssignmentError, match=r"expected 1\.\.6"):
            tree.assign(wrong)


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
def test_assignment_files_round_trip(tmp_path, suffix):
    assignment = Assignment((("a", "c"), ("b",)), {"layer": "vgg16.1", "samples": 20000})
    path = tmp_path / f"agents{suffix}"
    assignment.save(path)
    assert Assignment.load(path) == assignment
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_assignment_is_checked_against_and_fitted_to_a_layer():
    assignment = Assignment((("tile_K", "tile_C"), ("order_K",)))
    assert assignment.columns(["order_K", "tile_C", "tile_K"]) == [[2, 1], [0]]
    with pytest.raises(AssignmentError, match="Did you mean 'tile_KK'"):
        assignment.check(["tile_KK", "order_K", "tile_C"])
    with pytest.raises(AssignmentError, match="parameters x belong to no agent"):
        assignment.check(["tile_K", "tile_C", "order_K", "x"])
    fitted = assignment.fit(["tile_C", "x", "y"])
    assert fitted.agents == (("tile_C",), ("x",), ("y",))
    with pytest.raises(AssignmentError, match="shares no parameter"):
        assignment.fit(["x"])


def explored():
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 9, (400, 3))
    values = np.abs(actions[:, 0] - actions[:, 1]) + 0.01 * actions[:, 2] + 1.0
    values[::4] = np.inf
    source = {"layer": "mobilenetv2.2", "policy": "random"}
    return Dataset(actions, values, ("a", "b", "c"), np.zeros(3, dtype=bool), source)


def test_the_best_share_is_feasible_and_distinct():
    data = explored()
    doubled = replace(data, actions=np.tile(data.actions, (3, 1)), values=np.tile(data.values, 3))
    best = doubled.best(15.0)
    np.testing.assert_array_equal(best, data.best(15.0))
    assert len(np.unique(best, axis=0)) == len(best)
    distinct = len(np.unique(data.actions[np.isfinite(data.values)], axis=0))
    assert 0.14 * distinct <= len(best) <= 0.16 * distinct
    worst_kept = (np.abs(best[:, 0] - best[:, 1]) + 0.01 * best[:, 2]).max()
    assert worst_kept <= np.quantile(data.values[np.isfinite(data.values)] - 1.0, 0.17)
    for percent in (0.0, 101.0):
        with pytest.raises(DatasetError, match="percent"):
            data.best(percent)
    with pytest.raises(DatasetError, match="at least 3"):
        replace(data, values=np.full(400, np.inf)).best()


def test_datasets_round_trip_and_refuse_other_files(tmp_path):
    data = explored()
    path = tmp_path / "data.npz"
    data.save(path)
    again = Dataset.load(path)
    np.testing.assert_array_equal(again.actions, data.actions)
    np.testing.assert_array_equal(again.values, data.values)
    assert (again.names, again.source) == (data.names, data.source)
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, actions=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DatasetError, match="is no dataset"):
        Dataset.load(pickled)


def test_pictures_show_what_was_computed(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra viz")
    from mapper.clustering.plots import colour_of_link, dendrogram, heat_map

    correlation = correlate(planted(), NAMES, ORDERED)
    figure = heat_map(correlation)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), correlation.matrix)
    tree = cluster(correlation)
    grouped = heat_map(correlation, "", tree, 4).axes[0]
    shown = [text.get_text() for text in grouped.get_yticklabels()]
    assert sorted(shown) == sorted(NAMES)
    groups = tree.groups(4)
    assert shown == [name for group in groups for name in group]
    assert set(map(frozenset, groups)) == set(map(frozenset, tree.assign(4).agents))
    row, column = NAMES.index(shown[0]), NAMES.index(shown[1])
    assert grouped.images[0].get_array()[0, 1] == correlation.matrix[row, column]
    labels = [t.get_text() for t in dendrogram(tree, 4).axes[0].get_xticklabels()]
    assert sorted(labels) == list(NAMES)
    colours = [colour_of_link(tree, 4)(len(NAMES) + step) for step in range(len(NAMES) - 1)]
    assert colours.count(BACKDROP) == 3, "four clusters are joined by three"
    files = save_figure(figure, tmp_path / "deep" / "map.png")
    assert [path.name for path in files] == ["map.png", "map.svg", "map.pdf"]
    first = [path.read_bytes() for path in files]
    save_figure(heat_map(correlation), files[0])
    assert [path.read_bytes() for path in files] == first
    for one in (tmp_path / "one.svg", tmp_path / "one.PDF"):
        assert save_figure(figure, one) == [one]
    with pytest.raises(FigureError, match=r"folder: expected a name that ends in \.png"):
        save_figure(figure, tmp_path / "folder")


@pytest.mark.usefixtures("one_format")
def test_the_command_writes_an_assignment_that_search_takes(tmp_path):
    out, words = tmp_path / "out", "cluster -l mobilenetv2.7"
    printed(f"{words} --samples 400 --out {out} --agents 3")
    assert len(Assignment.load(out / "agents.yaml")) == 3
    assert len(Dataset.load(out / "dataset.npz").values) == 400
    again = f"cluster --dataset {out / 'dataset.npz'} -l"
    assert "400 samples" in printed(f"{again} mobilenetv2.7")
    assert "its objective is 'edp'" in refused(f"{again} mobilenetv2.7 -o latency")
    assert "its layer is" in refused(f"{again} mlp.2")
    assert "its accelerator.l1_bytes is 512" in refused(f"{again} mobilenetv2.7 -a cloud")
    assert "its accelerator is" in refused(f"{again} mobilenetv2.7 -a simba")
    assert "its space.tiles is" in refused(f"{again} mobilenetv2.7 --space tiles=divisors")
    assert "leave --policy, --samples and --seed out" in refused(f"{again} mlp.2 --seed 1")
    assert "expected one of them" in refused(f"{words} --agents 3 --threshold 1")


def test_what_is_found_while_it_explores_is_refused():
    for words, message in (
        ("--agents 99", "expected 1.."),
        ("--policy randm", "mean 'random'"),
        ("--top 0.01", "least 3"),
    ):
        code, _, err = said(f"cluster -l mobilenetv2.2 --samples 300 {words}")
        assert (code, message in err) == (2, True)


def test_the_reward_is_a_column_on_request():
    data = planted()
    values = data[:, 4] + 0.01 * data[:, 0]
    plain = correlate(data, NAMES, ORDERED)
    found = correlate(data, NAMES, ORDERED, values=values)
    assert np.array_equal(plain.matrix, found.matrix)
    assert plain.constant == found.constant == ("f",)
    assert abs(found.reward[4]) > 0.95
    assert np.abs(found.reward[[2, 3, 5]]).max() < 0.2
    apart = [tree.links[-1, 2] for tree in (cluster(plain), cluster(found, reward=True))]
    assert apart[1] > apart[0]
    with pytest.raises(ValueError, match="has no reward"):
        cluster(plain, reward=True)


def test_the_distance_of_pairs_is_an_option_that_wards_linkage_has_not():
    tree = cluster(correlate(planted(), NAMES, ORDERED), "average", "pairs")
    assert tree.assign(4).agents == (("a", "b"), ("c", "d"), ("e",), ("f",))
    assert tree.links[0, 2] == pytest.approx(1 - abs(np.corrcoef(planted().T[:5])).flat[1], abs=0.1)
    with pytest.raises(ValueError, match="metric 'pairs' has no linkage 'ward'"):
        cluster(correlate(planted(), NAMES, ORDERED), "ward", "pairs")


def test_a_file_of_another_space_is_refused(tmp_path):
    from maestro_env import Problem
    from mapper.marl.agents import resolve

    problem = Problem("vgg16.4", "archgym", "edp", "exact", "paper")
    path = tmp_path / "agents.yaml"
    Assignment.single(("outer_priority_K", "outer_tile_K")).save(path)
    with pytest.raises(AssignmentError, match=r"another map space: 'outer_priority_K' not in"):
        resolve(str(path), problem)
    Assignment.single(("outer_order", "outer_tile_G")).save(path)
    assert resolve(str(path), problem).agents[0] == ("outer_order",)


def test_the_command_correlates_no_parameter_with_itself():
    out = printed("cluster --layer gemm:M=2,N=1,K=1 --samples 20 --agents 2")
    rows = out.partition("correlation\n")[2].partition("\n\n")[0].splitlines()
    pairs = [set(row.replace(",", "").split()[:2]) for row in rows]
    assert [len(pair) for pair in pairs] == [2, 2, 2]
