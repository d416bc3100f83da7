"""What tests of several packages share."""

import os
import signal
from collections.abc import Iterator

import pytest

# small products are slower on more threads; torch and BLAS read it when they are loaded
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def hang_ups_heard() -> Iterator[None]:
    """SIGHUP does what it does by default, here and in what is started, under ``nohup`` too."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def one_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are written as PNG, with nothing beside it."""
    monkeypatch.setattr("marl_runs.palette.FORMATS", (".png",))
