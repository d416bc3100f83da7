"""Agents that were never trained, and a folder to work in."""

from pathlib import Path

import numpy as np
import pytest

from mapper.pretrained.network import fresh
from mapper.pretrained.weights import Agents


@pytest.fixture(scope="session")
def untrained() -> Agents:
    return Agents(fresh(np.random.default_rng(0), hidden=16))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a test alone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
