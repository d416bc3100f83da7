"""What runs on Ray, on one cluster of this machine: the runner, and the example of RLlib."""

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs the extra rllib")

from marl_runs import Store, ray_session
from tests.mapper.toys import Walk
from tests.runs.test_runner import content, quiet

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "rllib_ppo.py"
pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("_cluster")]


@pytest.fixture(scope="module")
def _cluster() -> Iterator[None]:
    with ray_session("local"):
        yield


def test_ray_gives_the_same_and_repeats_lost_runs(tmp_path: Path) -> None:
    killed = Walk(7, trouble="die once", marker=str(tmp_path / "died"))
    walks = [killed, Walk(8, trouble="raise"), Walk(0)]
    with Store.open(tmp_path / "there.sqlite") as there, Store.open() as here:
        summary = quiet(walks, there, workers=1, ray_address="local")
        assert sorted(summary.finished) == [Walk(0).name, killed.name]
        assert summary.failed == [("walk seed 8", "RuntimeError: the toy broke")]
        quiet(walks, here)
        assert content(there) == content(here)


def test_rllib_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("ray.shutdown", lambda: None)  # the cluster is everybody's
    runpy.run_path(str(EXAMPLE))
    returns = re.findall(r"mean return of an episode: ([0-9.]+)", capsys.readouterr().out)
    assert len(returns) == 1
    assert 0 < float(returns[0]) <= 16
