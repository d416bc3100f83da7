"""Prove every distinct shape of whole networks as a user does, and what it takes.

    python -m benchmarks network_proofs --out docs/data/network-proofs.csv

Each row is one process, ``mapper search --network N --method optimal --json``, with a store of its
own: shapes proven, and its processor time, start and first values included. Compiled before.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

NETWORKS = ("resnet18", "mobilenetv2", "bert_base")
FIELDS = ("network", "accelerator", "objective", "shapes", "proven", "cpu_s")


def processor_time() -> float:
    """Of all processes that this one started and that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def proofs_of(network: str, accelerator: str, objective: str) -> tuple[int, int, float]:
    """Shapes, those proven, and processor time [s]."""
    began = processor_time()
    with tempfile.TemporaryDirectory() as folder:
        asked = ["--network", network, "--accelerator", accelerator, "--objective", objective]
        how = ["--method", "optimal", "--json", "--store", f"{folder}/runs.sqlite"]
        words = [sys.executable, "-m", "mapper", "search", *asked, *how]
        said = subprocess.run(words, check=True, capture_output=True, text=True)
    shapes = json.loads(said.stdout)["shapes"]
    proven = sum(shape["proven"] == "optimal" for shape in shapes)
    return len(shapes), proven, processor_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--accelerators", nargs="+", default=["edge", "cloud"])
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for accelerator in args.accelerators:
        for network in args.networks:
            shapes, proven, seconds = proofs_of(network, accelerator, args.objective)
            rows.append((network, accelerator, args.objective, shapes, proven, f"{seconds:.1f}"))
            print(*rows[-1], sep="  ", flush=True)
    if args.out is not None:
        with args.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
