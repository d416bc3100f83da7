"""The command line: a whole story, and what is refused."""

import json

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

from marl_runs import SilentReporter, Store, run_all
from mst.cli import main
from mst.experiment import SparsePretraining
from mst.settings import Wanted

SMALL = [
    "--layers", "1", "--width", "8", "--heads", "2", "--context", "16", "--batch", "2",
    "--window", "4", "--stride", "8", "--every", "5",
]  # fmt: skip
TOKENS = str(24 * 32)


def run(*words, code=0):
    with pytest.raises(SystemExit) as done:
        main(list(words))
    assert done.value.code == code


@pytest.fixture
def place(corpus_folder, tmp_path):
    return ["--corpus", str(corpus_folder), "--store", str(tmp_path / "runs.db")]


def test_train_look_sample_and_plot(place, tmp_path, capsys):
    run("train", "--arm", "mst", "--tokens", TOKENS, *SMALL, *place, "--json")
    (row,) = json.loads(capsys.readouterr().out)
    assert row["status"] == "finished"
    assert row["density"] == 1
    assert 0 < row["files"] < 10
    store = place[2:]
    run("masks", str(row["run"]), *store, "--json")
    found = json.loads(capsys.readouterr().out)
    assert {layer["layer"] for layer in found["layers"]} >= {"0.qkv", "0.contract"}
    assert found["evolution"][-1]["density"] == 1
    assert min(point["density"] for point in found["evolution"]) == pytest.approx(0.1, abs=0.01)
    run("masks", str(row["run"]), *store)
    assert "least / mean / most" in capsys.readouterr().out
    run("sample", str(row["run"]), "--prompt", "def ", "--length", "9", *store)
    first = capsys.readouterr().out
    assert first.startswith("def ")
    run("sample", str(row["run"]), "--prompt", "def ", "--length", "9", *store)
    assert capsys.readouterr().out == first
    pytest.importorskip("matplotlib", reason="extra `viz` is not installed")
    run("plot", store[1], "--out", str(tmp_path / "pictures"))
    assert {path.suffix for path in (tmp_path / "pictures").iterdir()} == {".png", ".svg", ".pdf"}


def test_arms_beside_each_other(place, capsys):
    small = [*SMALL, "--width", "16"]
    words = ["compare", "--arms", "dense,tiny,mst", "--tokens", TOKENS, *small, *place]
    run(*words, "--seed", "0", "--seed", "1", "--json")
    rows = json.loads(capsys.readouterr().out)
    assert [row["arm"] for row in rows] == ["dense", "tiny", "mst"]
    dense, tiny, ours = rows
    assert ours["counted, times below dense"] > 1.3
    assert tiny["counted flops"] == pytest.approx(ours["counted flops"], rel=0.05)
    assert dense["bpb files +-"] > 0
    assert dense["bpb at equal flops"] > dense["bpb at equal flops"] - 1
    for by in ("seconds", "tokens"):
        run(*words, "--by", by)
        assert f"equal {by}" in capsys.readouterr().out


def test_operations_are_counted(capsys):
    run("flops", "--json")
    rows = {(row["arm"], row["head"]): row for row in json.loads(capsys.readouterr().out)}
    assert rows["mst", "dense"]["times fewer"] > 4.1
    assert rows["mst", "masked"]["times fewer"] > 4.6
    assert rows["mst", "dense"]["times fewer, masked head"] > 4.6
    run("flops")
    assert "Neither is time" in capsys.readouterr().out


def test_other_text_than_a_run_began_with(corpus_folder, tmp_path):
    wanted = Wanted(tokens=8192).arm_run("dense")
    run_of_other = SparsePretraining("dense", wanted.config, "0" * 64, str(corpus_folder), 0, 8192)
    with Store.open(tmp_path / "runs.db") as store:
        summary = run_all([run_of_other], store, workers=1, reporter=SilentReporter())
    ((_, error),) = summary.failed
    assert "which this run began with" in error


def test_a_dense_run_has_no_masks(place, capsys):
    run("train", "--arm", "dense", "--tokens", "64", *SMALL, *place, "--json")
    (row,) = json.loads(capsys.readouterr().out)
    run("masks", str(row["run"]), *place[2:], code=2)
    assert "has no masks" in capsys.readouterr().err
    run("sample", str(row["run"]), "--prompt", "", *place[2:], code=2)
    assert "empty" in capsys.readouterr().err
