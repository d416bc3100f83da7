"""Prove the optimum of every distinct shape of five networks, and say how long each proof takes.

    python -m benchmarks optimal_speed

Processor time includes the search for a first value; code is compiled before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

import layers
from baselines import prove
from benchmarks.frame import Row, Table, grouped, show
from layers import Layer, distinct
from maestro_env import Problem

NETWORKS = ("mobilenetv2", "resnet18", "vgg16", "alexnet", "bert_base")
MODELS = {"default": "exact", "maestro": "exact:energy=maestro:area=maestro"}
GIVEN = ("status", "value", "bound", "gap", "cpu_s", "boxes", "structures", "evaluated")


def shapes(networks: Iterable[str]) -> list[Layer]:
    """The layers of some networks, one of each shape."""
    return [one for one, _ in distinct(n for name in networks for n in layers.network(name))]


def row_of(
    given: Any, model: str, accelerator: str, objective: str, threads: int, layer: str
) -> Row:
    """Prove one case."""
    problem = Problem(layers.parse(layer), accelerator, objective, MODELS[model])
    proof = prove(problem, timeout=given.timeout, threads=threads)
    numbers = (repr(proof.value), repr(proof.bound), f"{proof.gap:.3e}", f"{proof.seconds:.3f}")
    counts = (getattr(proof.counts, name) for name in GIVEN[5:])
    return dict(zip(GIVEN, (proof.status, *numbers, *counts), strict=True))


def told(rows: list[Row], _: Any) -> None:
    """Print a row a chip and objective, of each model where there are several."""
    names, table = [n for n in ("model", "accelerator", "objective") if n in rows[0]], []
    for case, mine in grouped(rows, *names).items():
        times = [float(row["cpu_s"]) for row in mine]
        one: Row = dict(zip(names, case, strict=True)) | {"shapes": len(mine)}
        one["proven"] = sum(row["status"] in ("optimal", "empty") for row in mine)
        one["worst gap [%]"] = 100 * max(float(row["gap"]) for row in mine)
        one |= {f"{q:.0%} [s]": np.quantile(times, q) for q in (0.5, 0.95, 1.0)}
        table.append(one)
    show(table)


def keys(given: Any) -> Iterator[tuple[Any, ...]]:
    """Every shape, chip by chip."""
    prove(Problem("mlp.2"))
    for model, objective, accelerator, layer in product(
        MODELS, ("edp", "latency", "energy"), ("edge", "cloud"), shapes(NETWORKS)
    ):
        yield model, accelerator, objective, given.threads, layer.name


TABLE = Table(
    __doc__,
    ("model", "accelerator", "objective", "threads", "layer", *GIVEN),
    keys,
    row_of,
    "optimal-speed.csv",
    {"timeout": (300.0, "seconds of wall time"), "threads": 1},
    told=told,
)
