"""The corpus: each file in one split, the held-out package apart, refusals; the sampler."""

import csv
import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.data import Corpus, Sampler, build, read_sources
from mst.errors import CorpusError
from tests.mst.conftest import HELD_OUT, PACKAGES


@pytest.fixture
def copied(corpus_folder, tmp_path):
    return shutil.copytree(corpus_folder, tmp_path / "copied")


def test_no_text_is_in_two_splits_and_the_held_out_package_in_none_but_its_own(corpus_folder):
    with (corpus_folder / "files.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len({row["sha256"] for row in rows}) == len({row["path"] for row in rows}) == len(rows)
    for row in rows:
        assert (row["split"] == "package") == row["path"].startswith(f"{HELD_OUT}/")
    assert {row["split"] for row in rows} >= {"train", "package"}


def test_the_bytes_are_those_of_the_files(corpus, corpus_folder):
    files, duplicates = read_sources(PACKAGES, HELD_OUT, standard_library=False)
    for split, text in corpus.texts.items():
        chosen = [file.path.read_bytes() for file in files if file.split == split]
        assert bytes(text) == b"".join(one + b"\0" for one in chosen)
        assert corpus.manifest.splits[split]["files"] == len(chosen)
    assert corpus.manifest.duplicates == duplicates


def test_the_same_packages_give_the_same_corpus(corpus, tmp_path):
    again = build(tmp_path / "again", PACKAGES, HELD_OUT, standard_library=False)
    assert again.digest == corpus.manifest.digest
    other = build(tmp_path / "other", PACKAGES[:1], HELD_OUT, standard_library=False)
    assert other.digest != corpus.manifest.digest


def test_a_corpus_is_read_where_other_versions_are_installed(copied, corpus):
    path = copied / "manifest.json"
    content = json.loads(path.read_text())
    content["versions"]["typer"] = "0.0.1"
    path.write_text(json.dumps(content))
    assert Corpus.open(copied).manifest.digest == corpus.manifest.digest


def test_changed_text_is_refused(copied):
    with (copied / "train-000.bin").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CorpusError, match=r"train-000\.bin: its hash is not the manifest's"):
        Corpus.open(copied)


def test_too_little_text_is_refused_unless_it_may_be_repeated(corpus):
    there = len(corpus.texts["train"])
    corpus.check_length(there // 2, 16, repeat=False)
    with pytest.raises(CorpusError, match=r"has [\d,]+ bytes to train on, .*--repeat"):
        corpus.check_length(2 * there, 16, repeat=False)
    corpus.check_length(2 * there, 16, repeat=True)


def test_an_epoch_reads_every_window_once():
    text = np.arange(200, dtype=np.uint8)
    sampler = Sampler(text, context=8, batch=3, seed=4)
    windows = (200 - 8) // 8
    first = torch.cat([sampler.batch(i)[0][:, 0] for i in range(windows // 3)])
    assert len(set(first.tolist())) == windows
    assert len({int(place) % 8 for place in first}) == 1
    x, y = sampler.batch(0)
    assert torch.equal(x[:, 1:], y[:, :-1])
    assert torch.equal(y, x + 1)


def test_batches_follow_from_the_seed_and_the_update_alone(corpus):
    text = corpus.texts["train"][:5000]
    one, two, other = (Sampler(text, 32, 7, seed) for seed in (1, 1, 2))
    for update in range(40):
        one.batch(update)
    for update in (39, 3, 22):  # across epochs of 22 batches
        assert torch.equal(one.batch(update)[0], two.batch(update)[0])
        assert not torch.equal(one.batch(update)[0], other.batch(update)[0])
