"""Memory of long searches: the most that a process of its own holds, by method and samples.

Methods that the file holds already are not run again.

python -m benchmarks search_memory --methods ga random --samples 10000000 --out memory.csv
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import baselines
from benchmarks.chain_searchers import known, write
from maestro_env import Problem

METHODS = {
    **dict.fromkeys(("random", "ga", "gamma", "annealing", "local", "cross-entropy"), 10_000_000),
    **dict.fromkeys(("cma-es", "ppo", "marl"), 100_000),
    **dict.fromkeys(("bo", "tpe"), 3_000),
}
"""Samples of each method."""
COLUMNS = ("method", "layer", "accelerator", "samples", "megabytes", "cpu_seconds")


def searched(method: str, layer: str, accelerator: str, samples: int) -> dict[str, object]:
    """One search in this process, and what the process took."""
    problem = Problem(layer, accelerator)
    baselines.load(method).search(problem, samples, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "method": method,
        "layer": layer,
        "accelerator": accelerator,
        "samples": problem.samples,
        "megabytes": round(used.ru_maxrss * 1024 / 1e6),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--samples", type=int, help="of each; the method's own otherwise")
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--accelerator", default="edge")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--here", action="store_true", help="one method, in this process, as JSON")
    args = parser.parse_args()
    if args.here:
        samples = args.samples or METHODS[args.methods[0]]
        print(json.dumps(searched(args.methods[0], args.layer, args.accelerator, samples)))
        return
    rows = known(args.out)
    finished = {row["method"] for row in rows}
    for method in args.methods:
        if method in finished:
            continue
        command = [sys.executable, "-m", "benchmarks", "search_memory", "--here"]
        command += ["--methods", method, "--layer", args.layer, "--accelerator", args.accelerator]
        command += ["--samples", str(args.samples or METHODS[method])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(*(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
        if args.out is not None:
            write(args.out, COLUMNS, rows)


if __name__ == "__main__":
    main()
