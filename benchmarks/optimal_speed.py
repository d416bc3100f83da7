"""Prove the optimum of every distinct shape of five networks, and say how long each proof takes.

    python benchmarks/optimal_speed.py --out docs/data/optimal-speed.csv

Processor time includes the search for a first value; code is compiled before. Rows that are in the
file already are kept, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import layers
from baselines import prove
from layers import Layer
from maestro_env import Problem

NETWORKS = ("mobilenetv2", "resnet18", "vgg16", "alexnet", "bert_base")
MODELS = {"default": "exact", "maestro": "exact:energy=maestro:area=maestro"}
FIELDS = (
    *("model", "accelerator", "objective", "threads", "layer", "status", "value", "bound", "gap"),
    *("cpu_s", "boxes", "structures", "evaluated"),
)


def shapes(networks: list[str]) -> Iterator[Layer]:
    """The layers of some networks, one of each shape."""
    seen = set()
    for network in networks:
        for layer in layers.network(network):
            if layer.renamed("") not in seen:
                seen.add(layer.renamed(""))
                yield layer


def row_of(case: tuple[str, str, str, int], layer: Layer, timeout: float) -> dict[str, object]:
    """Prove one case."""
    model, accelerator, objective, threads = case
    problem = Problem(layer, accelerator, objective, MODELS[model])
    proof = prove(problem, timeout=timeout, threads=threads)
    named = dict(zip(FIELDS, case, strict=False))
    return named | {
        "layer": layer.name,
        "status": proof.status,
        "value": repr(proof.value),
        "bound": repr(proof.bound),
        "gap": f"{proof.gap:.3e}",
        "cpu_s": f"{proof.seconds:.3f}",
        "boxes": proof.counts.boxes,
        "structures": proof.counts.structures,
        "evaluated": proof.counts.evaluated,
    }


def summary(rows: list[dict[str, str]]) -> str:
    """One line for each model, accelerator and objective."""
    lines = ["| model | chip | objective | shapes | proven | worst gap | median | 95 % | all |"]
    lines.append("|---" * 9 + "|")
    for case in dict.fromkeys((r["model"], r["accelerator"], r["objective"]) for r in rows):
        mine = [r for r in rows if (r["model"], r["accelerator"], r["objective"]) == case]
        times = np.array([float(r["cpu_s"]) for r in mine])
        proven = sum(r["status"] in ("optimal", "empty") for r in mine)
        worst = max(float(r["gap"]) for r in mine)
        quantiles = (np.median(times), np.quantile(times, 0.95), times.max())
        shown = " | ".join(f"{q:.2f} s" for q in quantiles)
        lines.append(
            f"| {' | '.join(case)} | {len(mine)} | {proven} | {100 * worst:.4f} % | {shown} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--accelerators", nargs="+", default=["edge", "cloud"])
    parser.add_argument("--objectives", nargs="+", default=["edp", "latency", "energy"])
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of wall time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/data/optimal-speed.csv"))
    args = parser.parse_args()
    rows: list[dict[str, str]] = []
    if args.out.exists():
        with args.out.open(newline="") as file:
            rows = list(csv.DictReader(file))
    done = {tuple(row[field] for field in FIELDS[:5]) for row in rows}
    prove(Problem("mlp.2"))
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not rows:
            writer.writeheader()
        for model in args.models:
            for objective in args.objectives:
                for accelerator in args.accelerators:
                    case = (model, accelerator, objective, args.threads)
                    for layer in shapes(args.networks):
                        if (*map(str, case), layer.name) in done:
                            continue
                        row = row_of(case, layer, args.timeout)
                        writer.writerow(row)
                        file.flush()
                        rows.append({key: str(value) for key, value in row.items()})
                    print(summary(rows), flush=True)


if __name__ == "__main__":
    main()
