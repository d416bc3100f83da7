"""One thread, and a small corpus of packages that are always installed."""

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

import torch

from mst.data import Corpus, build

PACKAGES, HELD_OUT = ("pygments", "typer"), "rich"


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mst") / "corpus"
    build(folder, PACKAGES, HELD_OUT, standard_library=False)
    return folder


@pytest.fixture(scope="session")
def corpus(corpus_folder):
    return Corpus.open(corpus_folder)
