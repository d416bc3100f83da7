"""GAMMA on the layer of its own table: resnet18's layer 2, latency, as its source maps it.

    python benchmarks/gamma_resnet18.py

K64 C64 Y56 X56 R3 S3 without padding, `archgym` (1,024 PEs), guarded `maestro` model, 20,000
samples. No mapping is faster than MACs / PEs = 104,976 cycles; GAMMA's source, with divisor tiles,
ends at 124,433 after some 231 samples.
"""

from __future__ import annotations

import argparse

import numpy as np

import baselines
from maestro_env import Problem

LAYER = "conv:K=64,C=64,Y=56,X=56,R=3,S=3"
BOUND = 104_976
SOURCE = 124_433


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tiles", default="balanced", choices=["balanced", "divisors", "any"])
    parser.add_argument("--method", default="gamma")
    args = parser.parse_args()
    space = {"tiles": args.tiles}
    best = []
    print(
        "| seed | latency [cycles] | x bound | samples to below the source's |\n|---|---|---|---|"
    )
    for seed in range(args.seeds):
        problem = Problem(LAYER, "archgym", "latency", "maestro", space=space)
        found = baselines.load(args.method).search(problem, args.budget, seed)
        best.append(found.best_value)
        arrived = next((n for n, value in found.improvements if value < SOURCE), None)
        shown = "-" if arrived is None else f"{arrived:,}"
        print(f"| {seed} | {best[-1]:,.0f} | {best[-1] / BOUND:.3f} | {shown} |", flush=True)
    print(
        f"median {np.median(best):,.0f}, lowest {min(best):,.0f}; bound {BOUND:,}; GAMMA {SOURCE:,}"
    )
    if min(best) < BOUND:
        raise SystemExit("a value is below the bound: the guard let an impossible mapping through")


if __name__ == "__main__":
    main()
