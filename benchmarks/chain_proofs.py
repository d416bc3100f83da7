"""Prove the EDP of every distinct shape of three networks on three chips of three levels and more.

    python -m benchmarks chain_proofs --seconds 10

Processor time of one core, the first value included. Rows that are in the file already are kept.
Where a proof did not end, the row has what bounds of energy and of latency make of the best mapping
(:mod:`benchmarks.chain_losses`).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from baselines import Proof, ProofProgress, prove
from benchmarks.chain_losses import LOSSES, losses_of
from benchmarks.chain_searchers import known, write
from benchmarks.optimal_speed import shapes
from cost_models import ChainMapping
from layers import Layer
from maestro_env import Problem

NETWORKS = ("resnet18", "mobilenetv2", "bert_base")
CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs")
FIELDS = (
    *("accelerator", "objective", "layer", "status", "value", "bound", "gap", "cpu_s", "boxes"),
    *LOSSES,
)


class OutOfTimeError(Exception):
    """The proof has had its processor time."""


def proof_within(problem: Problem, seconds: float) -> tuple[str, Proof | ProofProgress]:
    """Prove an optimum in so much processor time.

    Returns:
        The status, ``timeout`` where the time was up, and the proof or how far it came.
    """
    began = time.process_time()
    last: list[ProofProgress] = []

    def watch(step: ProofProgress) -> None:
        last[:] = [step]
        if time.process_time() - began > seconds:
            raise OutOfTimeError

    try:
        proof = prove(problem, progress=watch)
    except OutOfTimeError:
        return "timeout", last[0]
    return proof.status, proof


def row_of(layer: Layer, chip: str, objective: str, seconds: float) -> dict[str, Any]:
    """Prove one case, or say how far it came."""
    began = time.process_time()
    problem = Problem(layer, chip, objective)
    losses = dict.fromkeys(LOSSES, "")
    status, found = proof_within(problem, seconds)
    boxes = found.counts.boxes if isinstance(found, Proof) else found.boxes
    value, bound, gap = found.value, found.bound, found.gap
    spent = time.process_time() - began
    if isinstance(found, ProofProgress) and isinstance(found.mapping, ChainMapping):
        losses = losses_of(problem, found.mapping)
    return {
        "accelerator": chip,
        "objective": objective,
        "layer": layer.name,
        "status": status,
        "value": repr(float(value)),
        "bound": repr(float(bound)),
        "gap": f"{gap:.3e}",
        "cpu_s": f"{spent:.2f}",
        "boxes": boxes,
        **losses,
    }


def summary(rows: list[dict[str, Any]]) -> str:
    """One line a chip."""
    lines = [
        "| chip | objective | shapes | proven | median time | gap of the others: median | worst |"
    ]
    lines.append("|---" * 7 + "|")
    for case in dict.fromkeys((r["accelerator"], r["objective"]) for r in rows):
        mine = [r for r in rows if (r["accelerator"], r["objective"]) == case]
        proven = [float(r["cpu_s"]) for r in mine if r["status"] == "optimal"]
        gaps = [100 * float(r["gap"]) for r in mine if r["status"] != "optimal"] or [0.0]
        times = f"{np.median(proven):.1f} s" if proven else ""
        shown = f"{np.median(gaps):.2g} % | {max(gaps):.2g} %"
        lines.append(f"| {' | '.join(case)} | {len(mine)} | {len(proven)} | {times} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--accelerators", nargs="+", default=list(CHIPS))
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of each")
    parser.add_argument("--out", type=Path, default=Path("docs/data/chain-proofs.csv"))
    args = parser.parse_args()
    rows = known(args.out)
    done = {(r["accelerator"], r["objective"], r["layer"]) for r in rows}
    for layer in shapes(args.networks):
        for chip in args.accelerators:
            if (chip, args.objective, layer.name) in done:
                continue
            rows.append(row_of(layer, chip, args.objective, args.seconds))
            write(args.out, FIELDS, rows)
    print(summary(rows))


if __name__ == "__main__":
    main()
