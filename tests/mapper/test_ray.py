"""The commands against a Ray head that was started on its own, and that asks for a token."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.mapper.commands import printed

ROOT = Path(__file__).parents[2]
HEAD_S = 60.0


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    """Address of a head on this machine, and the environment of somebody who may use it."""
    pytest.importorskip("ray", reason="needs the extra rllib")
    home = tmp_path_factory.mktemp("home")
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text("0" * 32)
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


def mapper(environment, words):
    command = [sys.executable, "-m", "mapper", *words.split()]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


COMPARE = "compare --layers mobilenetv2.7 --objectives edp --methods random,ga --budget 120"


@pytest.mark.ray
def test_compare_gives_the_same_on_a_head_by_its_address_and_by_auto(head, tmp_path):
    address, environment = head
    store = tmp_path / "ray.sqlite"
    words = f"{COMPARE} --format json --store"
    first = mapper(environment, f"{words} {store} --seeds 1 --ray-address {address}")
    assert first.returncode == 0, first.stderr
    found = {**environment, "RAY_ADDRESS": address}
    done = mapper(found, f"{words} {store} --seeds 2 --ray-address auto")
    assert done.returncode == 0, done.stderr
    here = printed(f"{words} {tmp_path / 'here.sqlite'} --seeds 2 --workers 1")
    there, here = (
        [{**run, "cpu_s": 0.0} for run in json.loads(text)] for text in (done.stdout, here)
    )
    assert len(there) == 4
    assert there == here


@pytest.mark.ray
def test_the_learner_rllib_trains_on_a_head(head):
    address, environment = head
    words = "search --layer mobilenetv2.7 --budget 140 --learner rllib --json"
    done = mapper(environment, f"{words} --ray-address {address}")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["samples"] == 140


@pytest.mark.ray
def test_a_head_that_asks_for_another_token_is_named_with_the_remedy(head, tmp_path):
    address, environment = head
    stranger = {**environment, "HOME": str(tmp_path), "RAY_NUM_REDIS_GET_RETRIES": "1"}
    words = f"{COMPARE} --seeds 1 --store {tmp_path / 'runs.sqlite'} --ray-address {address}"
    done = mapper(stranger, words)
    assert done.returncode == 2
    assert "put what its ~/.ray/auth_token holds into RAY_AUTH_TOKEN" in done.stderr
