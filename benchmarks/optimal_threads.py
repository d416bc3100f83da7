"""How much sooner a proof ends on more threads, where one thread takes two seconds and more.

    python benchmarks/optimal_threads.py --out docs/data/optimal-threads.csv

Wall time of the proof alone, from a value that was found before; runs of all thread counts take
turns, and of each the median is told. The machine must have nothing else to do.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from statistics import median

from baselines import prove
from maestro_env import Problem

CASES = {
    "mobilenetv2.2 energy": ("mobilenetv2.2", "cloud", "energy", {}),
    "mobilenetv2.3 energy": ("mobilenetv2.3", "cloud", "energy", {}),
    "mobilenetv2.1 energy": ("mobilenetv2.1", "cloud", "energy", {}),
    "mlp.2 full": ("mlp.2", "edge", "edp", {"full": True}),
    "mobilenetv2.2 any": ("mobilenetv2.2", "edge", "edp", {"tiles": "any"}),
}
FIELDS = ("case", "threads", "wall_s", "cpu_s", "status", "faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    prove(Problem("mlp.2"))
    rows = []
    for case in args.cases:
        layer, chip, objective, space = CASES[case]
        problem = Problem(layer, chip, objective, space=space)
        start = prove(problem, timeout=0).mapping
        walls: dict[int, list[float]] = {threads: [] for threads in args.threads}
        cpus: dict[int, list[float]] = {threads: [] for threads in args.threads}
        status = ""
        for _ in range(args.repeats):
            for threads in args.threads:
                began = time.perf_counter()
                proof = prove(problem, start=start, threads=threads)
                walls[threads].append(time.perf_counter() - began)
                cpus[threads].append(proof.seconds)
                status = proof.status
        alone = median(walls[args.threads[0]])
        for threads in args.threads:
            wall, cpu = median(walls[threads]), median(cpus[threads])
            numbers = (f"{wall:.2f}", f"{cpu:.2f}", status, f"{alone / wall:.2f}")
            rows.append((case, threads, *numbers))
            print(*rows[-1], sep="  ", flush=True)
    if args.out is not None:
        with args.out.open("w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
