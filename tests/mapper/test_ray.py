"""The commands against a Ray head that was started on its own, and that asks for a token."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import baselines
from mapper.marl.agents import resolve
from marl_runs import RayConnectionError, Store, ray_session
from tests.mapper.commands import printed
from tests.mapper.marl_runs import problem, samples_of

ROOT = Path(__file__).parents[2]
HEAD_S = 60.0


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    """Address of a head on this machine, and the environment of somebody who may use it."""
    pytest.importorskip("ray", reason="needs the extra rllib")
    home = tmp_path_factory.mktemp("home")
    (home / ".ray").mkdir()
    token = os.environ.setdefault("RAY_AUTH_TOKEN", "0" * 32)  # of this process for good
    (home / ".ray" / "auth_token").write_text(token)
    others = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    own = {"HOME": str(home), "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    environment = others | own
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # free again when the block ends
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as tmp:
        words = f"start --head --block --port {port} --temp-dir {tmp} --num-cpus 2"
        words += " --include-dashboard=false --object-store-memory 100000000 --disable-usage-stats"
        with (Path(tmp) / "head.txt").open("w") as said:
            command = [sys.executable, "-m", "ray.scripts.scripts", *words.split()]
            process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        try:
            wait_for(process, Path(tmp) / "head.txt")
            yield f"127.0.0.1:{port}", environment
        finally:
            process.terminate()  # ends all that it started
            process.wait(timeout=HEAD_S)


def wait_for(process, said):
    end = time.monotonic() + HEAD_S
    while "Ray runtime started" not in said.read_text():
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def joined(head):
    """This process is on the head, found as ``auto``: what starts Ray anywhere here uses it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", head[0])
        with ray_session("auto"):
            yield


def mapper(environment, words):
    command = [sys.executable, "-m", "mapper", *words.split()]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


COMPARE = "compare --layers mobilenetv2.7 --objectives edp --methods random,ga --budget 120"


@pytest.mark.ray
def test_compare_gives_the_same_on_a_head(head, joined, tmp_path):
    words = f"{COMPARE} --seeds 1 --format json --store"
    there = printed(f"{words} {tmp_path / 'ray.sqlite'} --ray-address {head[0]}")
    here = printed(f"{words} {tmp_path / 'here.sqlite'} --workers 1")
    there, here = ([{**run, "cpu_s": 0.0} for run in json.loads(text)] for text in (there, here))
    assert len(there) == 2
    assert there == here


BUDGET, PART = 320, 64
OPTIONS = {"mode": "paper", "batch": 32}


def returns_of(searcher):
    """All samples, and ``(BUDGET,)`` bound / value of each, 0 where infeasible."""
    actions, _ = samples_of(searcher, BUDGET)
    return actions, problem().bound / problem().look(actions).values


@pytest.mark.ray
def test_rllib_learns_what_the_batched_learner_learns(head, joined, tmp_path):
    """Parity of the paper's mode: mean returns rise from chance alike, to about the same level.

    And a seed gives the same samples where a head updates, in a process of another hash seed.
    """
    torch = pytest.importorskip("torch", reason="needs the extra rllib")
    path, store = tmp_path / "policies.pt", tmp_path / "runs.sqlite"
    actions, theirs = returns_of(baselines.load("marl-rllib", checkpoint=str(path), **OPTIONS))
    _, ours = returns_of(baselines.load("marl", **OPTIONS))
    for returns in (theirs, ours):
        assert len(returns) == BUDGET
        assert returns[-PART:].mean() > 1.5 * returns[:PART].mean()
    assert 0.7 < theirs[-PART:].mean() / ours[-PART:].mean() < 1.4
    weights = torch.load(path, weights_only=True)["state"]["agents"]
    assert len(weights) == len(resolve("auto", problem()))
    address, environment = head
    words = "search --layer mobilenetv2.7 --learner rllib --budget 50 --json --no-proof"
    words += f" --option mode=paper --option batch=32 --ray-address {address} --store {store}"
    done = mapper({**environment, "PYTHONHASHSEED": "77"}, words)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["samples"] == 50
    with Store.open(store) as opened:
        np.testing.assert_array_equal(opened.samples(1)[0], actions[:50])


@pytest.mark.ray
def test_a_head_that_asks_for_another_token_is_named_with_the_remedy(head, tmp_path):
    address, environment = head
    stranger = {**environment, "HOME": str(tmp_path), "RAY_NUM_REDIS_GET_RETRIES": "1"}
    words = f"{COMPARE} --seeds 1 --store {tmp_path / 'runs.sqlite'} --ray-address {address}"
    done = mapper(stranger, words)
    assert done.returncode == 2
    assert "put what its ~/.ray/auth_token holds into RAY_AUTH_TOKEN" in done.stderr


class StubbornRay:
    """Ray whose server does not come up."""

    ended = 0

    def is_initialized(self):
        return False

    def init(self, **_):
        raise Exception("Timed out waiting for file gcs_server_port.\nmore")

    def shutdown(self):
        self.ended += 1


def test_a_cluster_that_does_not_come_up_is_refused_in_one_line(monkeypatch):
    ray = StubbornRay()
    monkeypatch.setattr("marl_runs.ray_connection._imported", lambda: ray)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    refused = pytest.raises(RayConnectionError, match=r"did not start here \(Timed out.*port\)")
    with refused, ray_session("local"):
        pass
    assert ray.ended == 1
