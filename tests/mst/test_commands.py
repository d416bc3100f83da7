"""The command line: a whole story, and what is refused."""

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

from marl_runs import SilentReporter, Store, run_all
from mst.experiment import SparsePretraining
from mst.settings import Wanted
from tests.mst.small import OPTIONS
from tests.programs import answer, give

TOKENS = 24 * 32


@pytest.fixture
def place(corpus_folder, tmp_path):
    return ["--corpus", corpus_folder, "--store", tmp_path / "runs.db"]


def test_train_look_sample_and_plot(place, tmp_path):
    (row,) = answer("mst", "train", "--arm", "mst", "--tokens", TOKENS, *OPTIONS, *place)
    assert row["status"] == "finished"
    assert row["density"] == 1
    assert 0 < row["files"] < 10
    store = place[2:]
    found = answer("mst", "masks", row["run"], *store)
    assert {layer["layer"] for layer in found["layers"]} >= {"0.qkv", "0.contract"}
    assert found["evolution"][-1]["density"] == 1
    assert min(point["density"] for point in found["evolution"]) == pytest.approx(0.1, abs=0.01)
    assert "least / mean / most" in give("mst", "masks", row["run"], *store)
    sample = ("mst", "sample", row["run"], "--prompt", "def ", "--length", 9, *store)
    first = give(*sample)
    assert first.startswith("def ")
    assert give(*sample) == first
    pytest.importorskip("matplotlib", reason="extra `viz` is not installed")
    give("mst", "plot", store[1], "--out", tmp_path / "pictures")
    assert {path.suffix for path in (tmp_path / "pictures").iterdir()} == {".png", ".svg", ".pdf"}


def test_arms_beside_each_other(place):
    small = (*OPTIONS, "--width", 16, "--tokens", TOKENS, "--seed", 0, "--seed", 1)
    words = ("mst", "compare", "--arms", "dense,tiny,mst", *small, *place)
    rows = answer(*words)
    assert [row["arm"] for row in rows] == ["dense", "tiny", "mst"]
    dense, tiny, ours = rows
    assert ours["counted, times below dense"] > 1.3
    assert tiny["counted flops"] == pytest.approx(ours["counted flops"], rel=0.05)
    assert dense["bpb files +-"] > 0
    for by in ("seconds", "tokens"):
        assert f"equal {by}" in give(*words, "--by", by)


def test_operations_are_counted():
    rows = {(row["arm"], row["head"]): row for row in answer("mst", "flops")}
    assert rows["mst", "dense"]["times fewer"] > 4.1
    assert rows["mst", "masked"]["times fewer"] > 4.6
    assert rows["mst", "dense"]["times fewer, masked head"] > 4.6
    assert "Neither is time" in give("mst", "flops")


def test_other_text_than_a_run_began_with(corpus_folder, tmp_path):
    wanted = Wanted(tokens=8192).arm_run("dense")
    run_of_other = SparsePretraining("dense", wanted.config, "0" * 64, str(corpus_folder), 0, 8192)
    with Store.open(tmp_path / "runs.db") as store:
        summary = run_all([run_of_other], store, workers=1, reporter=SilentReporter())
    ((_, error),) = summary.failed
    assert "which this run began with" in error


def test_a_dense_run_has_no_masks(place):
    (row,) = answer("mst", "train", "--arm", "dense", "--tokens", 64, *OPTIONS, *place)
    assert "has no masks" in give("mst", "masks", row["run"], *place[2:], code=2)
    assert "empty" in give("mst", "sample", row["run"], "--prompt", "", *place[2:], code=2)
