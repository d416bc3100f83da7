"""A thousand designs of a network: time, gaps of the front, and what kill -9 costs.

    python -m benchmarks explore_designs [--designs 1000] [--csv docs/data/explore.csv]
    python -m benchmarks explore_designs --fuse keep --csv docs/data/explore-keep-time.csv

Runs `mapper explore` once from an empty store, then once more on another store with SIGKILL in the
middle and the same command after it; both must write the same rows. With `--fuse keep` once, all
100 designs of a grid of MobileNet-v2 whose tensors may stay, with the gaps of all of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.frame import Row, Summary, known
from benchmarks.network_proofs import children_s

SWEEP = (
    "--network resnet18 --pes 64..1024:64 --l1 256..2048 --l2 16k..1M --noc 16,64 --offchip 8,16 "
    "-o edp,area --workers 2 --wires off"
)
KEPT = (
    "--network mobilenetv2 --fuse keep --gap 0.05 --pes 64..512 --l1 256..4k --l2 64k..1M "
    "--workers 2"
)


def command(folder: Path, designs: int | None, name: str) -> list[str]:
    """The exploration, with a store and rows of its own; without a number that of `KEPT`."""
    words = (SWEEP if designs else KEPT).split()
    files = ["--store", str(folder / f"{name}.sqlite"), "--csv", str(folder / f"{name}.csv")]
    many = ["--designs", str(designs)] if designs else []
    return [sys.executable, "-m", "mapper", "explore", *words, *many, *files]


def timed(words: list[str]) -> tuple[float, float]:
    """Wall and processor time [s] of a command and its workers."""
    began, before = time.perf_counter(), children_s()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began, children_s() - before


def killed(words: list[str], after_s: float) -> None:
    """Begin a command, and kill it with all its workers."""
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(after_s)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measured(given: Any) -> list[Row]:
    """The one row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = given.fuse == "keep"
        wall, cpu = timed(command(folder, None if kept else given.designs, "whole"))
        rows = known(folder / "whole.csv")
        front = [row for row in rows if row["front"] == "1"]
        gaps = [float(row["gap"]) for row in (rows if kept else front)]
        figures = {
            "designs": len(rows) if kept else given.designs,
            "front": len(front),
            **({"median_gap": median(gaps)} if kept else {}),
            "largest_gap": max(gaps),
            "wall_s": round(wall, 1),
            "cpu_s": round(cpu, 1),
        }
        if not kept:
            words = command(folder, given.designs, "killed")
            killed(words, wall / 2)
            rest, _ = timed(words)
            same = (folder / "killed.csv").read_text() == (folder / "whole.csv").read_text()
            figures |= {"after_kill_s": round(rest, 1), "same_rows": same}
    return [figures]


TABLE = Summary(
    __doc__,
    measured,
    options={"designs": 1000, "fuse": ("none", None, ("none", "keep"))},
    quick={"designs": 4},
    digits=None,
)
