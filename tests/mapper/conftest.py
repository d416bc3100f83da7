"""Agents that were never trained, a folder to work in, and an answer whose layers are fused."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from mapper.pretrained.network import fresh
from mapper.pretrained.weights import Agents
from tests.mapper.commands import printed
from tests.mapper.small_networks import CHAIN, TILES


@pytest.fixture(scope="session")
def untrained() -> Agents:
    return Agents(fresh(np.random.default_rng(0), hidden=16))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a test alone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def searched_chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `CHAIN` was searched: the answer in ``out``, and what was said of it."""
    place = tmp_path_factory.mktemp("chain")
    (place / "net.yaml").write_text(CHAIN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        (place / "said.txt").write_text(printed(f"{TILES} --out out"), encoding="utf-8")
    return place


@pytest.fixture
def fused_chain(folder: Path, searched_chain: Path) -> Path:
    """The working folder of a test alone: a copy of it."""
    shutil.copytree(searched_chain, folder, dirs_exist_ok=True)
    return folder
