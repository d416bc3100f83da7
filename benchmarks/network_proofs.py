"""Prove every distinct shape of whole networks as a user does, and what it takes.

    python -m benchmarks network_proofs --out docs/data/network-proofs.csv

Each row is one process, ``mapper search --network N --method optimal --json``, with a store of its
own: shapes proven, and its processor time, start and first values included. Compiled before.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from itertools import product
from typing import Any

from benchmarks.frame import Row, Table


def children_s() -> float:
    """Processor time of all processes that this one started and that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def search(*words: str) -> tuple[Any, float]:
    """What a search in a process of its own says, and the processor time that it takes [s]."""
    began = children_s()
    with tempfile.TemporaryDirectory() as folder:
        how = ["--json", "--store", f"{folder}/runs.sqlite"]
        command = [sys.executable, "-m", "mapper", "search", *words, *how]
        said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return said, children_s() - began


def row_of(_: Any, network: str, accelerator: str, objective: str) -> Row:
    """Shapes, those proven, and processor time [s]."""
    said, cpu_s = search(
        *("--network", network, "-a", accelerator, "-o", objective, "--method", "optimal")
    )
    proven = sum(shape["proven"] == "optimal" for shape in said["shapes"])
    return {"shapes": len(said["shapes"]), "proven": proven, "cpu_s": f"{cpu_s:.1f}"}


TABLE = Table(
    __doc__,
    ("network", "accelerator", "objective", "shapes", "proven", "cpu_s"),
    lambda given: product(given.networks, given.accelerators, [given.objective]),
    row_of,
    options={
        "networks": ["resnet18", "mobilenetv2", "bert_base"],
        "accelerators": ["edge", "cloud"],
        "objective": "edp",
    },
    quick={"networks": ["mlp"]},
)
