"""Prove the optimum of every distinct shape of five networks, and say how long each proof takes.

    python -m benchmarks optimal_speed

Processor time includes the search for a first value; code is compiled before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import layers
from baselines import prove
from benchmarks.frame import Table
from layers import Layer
from maestro_env import Problem

NETWORKS = ("mobilenetv2", "resnet18", "vgg16", "alexnet", "bert_base")
MODELS = {"default": "exact", "maestro": "exact:energy=maestro:area=maestro"}
GIVEN = ("status", "value", "bound", "gap", "cpu_s", "boxes", "structures", "evaluated")


def shapes(networks: list[str]) -> Iterator[Layer]:
    """The layers of some networks, one of each shape."""
    seen = set()
    for network in networks:
        for layer in layers.network(network):
            if layer.renamed("") not in seen:
                seen.add(layer.renamed(""))
                yield layer


def row_of(
    given: Any, model: str, accelerator: str, objective: str, threads: int, layer: str
) -> dict[str, object]:
    """Prove one case."""
    problem = Problem(layers.parse(layer), accelerator, objective, MODELS[model])
    proof = prove(problem, timeout=given.timeout, threads=threads)
    return {
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


def keys(given: Any) -> Iterator[tuple[Any, ...]]:
    """Every shape, chip by chip."""
    prove(Problem("mlp.2"))
    for model, objective, accelerator, layer in product(
        given.models, given.objectives, given.accelerators, shapes(given.networks)
    ):
        yield model, accelerator, objective, given.threads, layer.name


TABLE = Table(
    __doc__,
    ("model", "accelerator", "objective", "threads", "layer", *GIVEN),
    keys,
    row_of,
    "optimal-speed.csv",
    {
        "networks": list(NETWORKS),
        "models": (list(MODELS), None, MODELS),
        "accelerators": ["edge", "cloud"],
        "objectives": ["edp", "latency", "energy"],
        "timeout": (300.0, "seconds of wall time"),
        "threads": 1,
    },
    told=lambda rows, _: print(summary(rows)),
)
