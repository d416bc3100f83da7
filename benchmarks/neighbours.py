"""Policies of a neighbour layer, for searches that begin with them (``warm_start=neighbour``)."""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import layers
from layers import Layer
from maestro_env import Problem

SAMPLES = 5_000
"""Samples that the neighbour's search takes; they are beside the budget of the search warmed up."""

_folder: list[tempfile.TemporaryDirectory[str]] = []


def policies(run: dict[str, Any]) -> str:
    """Checkpoint of a search on the neighbour with the run's objective, cost model and seed."""
    if not _folder:
        _folder.append(tempfile.TemporaryDirectory())
        atexit.register(_folder[0].cleanup)
    words = [str(run[part]) for part in ("cost_model", "accelerator", "layer", "objective", "seed")]
    path = Path(_folder[0].name) / ("-".join(words) + ".pt")
    if not path.exists():
        neighbour = of(layers.parse(run["layer"]), run["layer"].split(".")[0])
        problem = Problem(neighbour, run["accelerator"], run["objective"], run["cost_model"])
        searcher = baselines.load("marl", checkpoint=str(path), checkpoint_every=SAMPLES)
        searcher.search(problem, SAMPLES, run["seed"])
    return str(path)


def of(layer: Layer, network: str) -> Layer:
    """The layer of the network with the nearest shape that is not this one."""
    others = [
        other
        for other in layers.network(network)
        if other.kind == layer.kind and other.renamed("") != layer.renamed("")
    ]

    def distance(other: Layer) -> float:
        return float(np.linalg.norm(np.log2(other.extents) - np.log2(layer.extents)))

    return min(others, key=distance)
