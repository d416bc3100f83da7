"""A comparison that is killed and resumed gives the table of one that was not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from marl_runs import Store

COMMAND = (
    *(sys.executable, "-c", "from mapper.cli import main; main()", "compare"),
    *("--layers", "mobilenetv2.2,mobilenetv2.7", "--objectives", "latency,edp"),
    *("--methods", "random,ga", "--budget", "4000", "--seeds", "3", "--format", "json"),
)

RUNS = 24
PATIENCE_S = 1800
"""A machine with other work may take a hundred times as long as an idle one; only a hang does not
end."""


def compare(store: Path, *more: str) -> list[dict]:
    done = subprocess.run(
        [*COMMAND, "--store", str(store), *more], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return [{k: v for k, v in row.items() if k != "cpu_s"} for row in json.loads(done.stdout)]


def finished(path: Path) -> dict[str, float]:
    if not path.exists() or not path.stat().st_size:
        return {}
    with Store.open(path) as store:
        return {run.key: run.ended for run in store.runs(status="finished")}


@pytest.mark.slow
def test_killed_comparison_resumes_to_the_same_table(tmp_path):
    killed, whole = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    process = subprocess.Popen(
        [*COMMAND, "--store", str(killed), "--workers", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(finished(killed)) < 4 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    kept = finished(killed)
    assert 4 <= len(kept) < RUNS

    rows = compare(killed, "--workers", "2")
    assert len(rows) == RUNS
    assert rows == compare(whole, "--workers", "1")
    assert kept.items() <= finished(killed).items()  # kept, not done again
    assert compare(killed, "--no-run") == rows
