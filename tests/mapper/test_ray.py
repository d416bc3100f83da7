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
from typer.testing import CliRunner

from mapper.cli import app

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
    environment = {
        **others,
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
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


def mapper(environment, *words):
    command = [sys.executable, "-m", "mapper", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


COMPARE = "compare --layers mobilenetv2.7 --objectives edp --methods random,ga --budget 120"


def compared(environment, store, *words):
    words = [*COMPARE.split(), "--format", "json", "--store", str(store), *words]
    if environment is None:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    else:
        done = mapper(environment, *words)
        assert done.returncode == 0, done.stderr
    return [{**run, "cpu_s": 0.0} for run in json.loads(done.stdout)]


@pytest.mark.ray
def test_compare_gives_the_same_on_a_head_by_its_address_and_by_auto(head, tmp_path):
    address, environment = head
    store = tmp_path / "ray.sqlite"
    compared(environment, store, "--seeds", "1", "--ray-address", address)
    found = {**environment, "RAY_ADDRESS": address}
    there = compared(found, store, "--seeds", "2", "--ray-address", "auto")
    here = compared(None, tmp_path / "here.sqlite", "--seeds", "2", "--workers", "1")
    assert len(there) == 4
    assert there == here


LOSES_A_WORKER = """
import sys
from marl_runs import SilentReporter, run_all
from marl_runs import Store
from tests.mapper.toys import Walk

address, folder = sys.argv[1:]
killed = Walk(7, trouble="die once", marker=folder + "/died")
with Store.open(folder + "/runs.sqlite") as store:
    run_all([killed, Walk(1)], store, workers=2, ray_address=address, reporter=SilentReporter())
    for run in store.runs():
        print(run.seed, run.status, run.samples, store.samples(run.id)[1].size)
"""


@pytest.mark.ray
def test_the_runs_of_a_killed_worker_are_done_again_on_a_head(head, tmp_path):
    address, environment = head
    command = [sys.executable, "-c", LOSES_A_WORKER, address, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (tmp_path / "died").exists()
    assert sorted(done.stdout.split("\n")[:-1]) == ["1 finished 50 50", "7 finished 50 50"]


@pytest.mark.ray
def test_the_learner_rllib_trains_on_a_head(head):
    address, environment = head
    words = "search --layer mobilenetv2.7 --budget 140 --learner rllib --json"
    done = mapper(environment, *words.split(), "--ray-address", address)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["samples"] == 140


@pytest.mark.ray
def test_a_head_that_asks_for_another_token_is_named_with_the_remedy(head, tmp_path):
    address, environment = head
    stranger = {**environment, "HOME": str(tmp_path), "RAY_NUM_REDIS_GET_RETRIES": "1"}
    words = ["search", "--layer", "mobilenetv2.7", "--learner", "rllib", "--ray-address", address]
    done = mapper(stranger, *words)
    assert done.returncode == 2
    assert "put what its ~/.ray/auth_token holds into RAY_AUTH_TOKEN" in done.stderr
