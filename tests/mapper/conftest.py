"""Agents that were never trained, which all tests of proposals share."""

import numpy as np
import pytest

from mapper.pretrained.network import fresh
from mapper.pretrained.weights import Agents


@pytest.fixture(scope="session")
def untrained() -> Agents:
    return Agents(fresh(np.random.default_rng(0), hidden=16))
