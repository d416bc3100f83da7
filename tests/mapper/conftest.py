"""Agents that were never trained, a folder to work in, and an answer whose layers are fused."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from baselines.optimal import chain_proving, proving
from mapper.certificate import looks
from mapper.pretrained.network import fresh
from mapper.pretrained.weights import Agents
from tests.mapper.commands import printed
from tests.mapper.small_networks import CHAIN, TILES


@pytest.fixture(scope="session")
def untrained() -> Agents:
    return Agents(fresh(np.random.default_rng(0), hidden=16))


@pytest.fixture(scope="module")
def quick_proofs() -> Iterator[None]:
    """Proofs begin with a value of few samples, and checkers execute few mappings."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (proving, chain_proving):
            patch.setattr(module, "FIRST_SAMPLES", 100)
        patch.setattr(looks, "SIMULATED", 30)
        yield


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
