"""Prove the EDP of every distinct shape of three networks on three chips of three levels and more.

    python -m benchmarks chain_proofs --seconds 10
    python -m benchmarks chain_proofs --seconds 60 --above 0.02 --out docs/data/chain-proofs-60.csv

Processor time of one core, the first value included. Where a proof did not end, the row has what
bounds of energy and of latency make of the best mapping (:mod:`benchmarks.chain_losses`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import layers
from baselines import Proof, ProofProgress, prove
from benchmarks.chain_losses import LOSSES, losses_of
from benchmarks.frame import DATA, Row, Table, known
from benchmarks.optimal_speed import shapes, told
from cost_models import ChainMapping
from maestro_env import Problem

FILE = "chain-proofs.csv"
NETWORKS = ("resnet18", "mobilenetv2", "bert_base")
CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs")


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


def row_of(given: Any, chip: str, objective: str, layer: str) -> Row:
    """Prove one case, or say how far it came."""
    began = time.process_time()
    problem = Problem(layers.parse(layer), chip, objective)
    status, found = proof_within(problem, given.seconds)
    row: Row = {
        "status": status,
        "value": repr(float(found.value)),
        "bound": repr(float(found.bound)),
        "gap": f"{found.gap:.3e}",
        "cpu_s": f"{time.process_time() - began:.2f}",
        "boxes": found.counts.boxes if isinstance(found, Proof) else found.boxes,
    }
    if isinstance(found, ProofProgress) and isinstance(found.mapping, ChainMapping):
        row |= losses_of(problem, found.mapping)
    return row


def keys(given: Any) -> Iterator[tuple[str, str, str]]:
    """Every shape on every chip; of some gap alone, those that the file leaves above it."""
    left = {
        (row["accelerator"], row["objective"], row["layer"])
        for row in known(DATA / FILE)
        if float(row["gap"]) > given.above
    }
    for layer in shapes(given.networks):
        for chip in given.accelerators:
            key = chip, given.objective, layer.name
            if given.above <= 0 or key in left:
                yield key


TABLE = Table(
    __doc__,
    (
        *("accelerator", "objective", "layer", "status", "value", "bound", "gap", "cpu_s"),
        *("boxes", *LOSSES),
    ),
    keys,
    row_of,
    FILE,
    {
        "networks": list(NETWORKS),
        "accelerators": list(CHIPS),
        "objective": "edp",
        "seconds": (10.0, "processor time of each"),
        "above": (0.0, f"cases alone whose gap in {FILE} is larger"),
    },
    {"seconds": 0.1},
    told,
)
