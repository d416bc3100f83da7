"""Prove the optima of full spaces: two parallel dimensions a level, and tensors that pass one.

    python benchmarks/full_spaces.py --out docs/data/full-spaces.csv

Each case is a process of its own, compiled before: its allocations, how its proof ended, value,
bound, processor time of first value and proof, and the most memory that the process had. The
largest are given a timeout; one while allocations are still read leaves the physical bound.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from baselines import StructureSpace, prove
from maestro_env import Problem

PES = {"co_search": "num_pes"}
CASES: dict[str, tuple[str, str, dict[str, Any], bool]] = {
    "mlp.2": ("mlp.2", "edge", {}, False),
    "mobilenetv2.2": ("mobilenetv2.2", "edge", {}, False),
    "on eyeriss": ("mobilenetv2.2", "eyeriss", {}, True),
    "on nvdla-small": ("mobilenetv2.2", "nvdla-small", {}, True),
    "on cloud": ("mobilenetv2.2", "cloud", {}, True),
    "PEs too": ("mobilenetv2.2", "edge", PES, True),
}
FIELDS = (
    *("case", "layer", "accelerator", "space", "allocations", "status", "value", "bound"),
    *("timeout_s", "cpu_s", "peak_mb"),
)
Row = tuple[str | int | float, ...]


def one(case: str, timeout: float) -> Row:
    """The row of a case; `timeout` is that of large ones [s]."""
    layer, chip, options, large = CASES[case]
    prove(Problem("mlp.2", space={"full": True}), timeout=0)  # compiles
    problem = Problem(layer, chip, "edp", space={"full": True, **options})
    allocations = len(StructureSpace(problem.space).structures)
    proof = prove(problem, timeout=timeout if large else None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = (allocations, proof.status, f"{proof.value:.9g}", f"{proof.bound:.9g}")
    space = " ".join(["full=true", *(f"{name}={value}" for name, value in options.items())])
    limit = timeout if large else ""
    return case, layer, chip, space, *found, limit, f"{proof.seconds:.1f}", f"{peak:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--timeout", type=float, default=60.0, help="of large ones [s]")
    parser.add_argument("--out", type=Path, help="file that rows are added to")
    args = parser.parse_args()
    fresh = multiprocessing.get_context("spawn")
    for case in args.cases:
        with ProcessPoolExecutor(1, mp_context=fresh) as pool:
            row = pool.submit(one, case, args.timeout).result()
        print(*row, sep="  ", flush=True)
        if args.out is not None:
            new = not args.out.exists()
            with args.out.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([FIELDS, row] if new else [row])


if __name__ == "__main__":
    main()
