"""A small corpus of packages that are always installed."""

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

from mst.data import Corpus, build

PACKAGES, HELD_OUT = ("pygments", "typer"), "rich"


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mst") / "corpus"
    build(folder, PACKAGES, HELD_OUT, standard_library=False)
    return folder


@pytest.fixture(scope="session")
def corpus(corpus_folder):
    return Corpus.open(corpus_folder)
