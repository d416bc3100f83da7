"""From which density on a layer is better multiplied dense: measured once for each shape.

The compiled kernels win at low densities and lose at high ones, so a run that goes from dense to
sparse and back changes over twice. Neither way changes what is computed, only its rounding.
"""

from __future__ import annotations

import json
import time
import timeit
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from marl_common import read_json, write_text
from mst.config import PretrainConfig
from mst.errors import MstError
from sparse_training import SparseLinear, Sparsifier, SparsityConfig, Unit

FILE = "mst-dense-above.json"
"""Where a store keeps what was measured on its machine."""
DENSITIES = (0.15, 0.25, 0.35, 0.5, 0.65, 0.8)
ROUNDS = 3


def dense_above(config: PretrainConfig, folder: Path | None = None) -> dict[str, float]:
    """Layer -> density from which on it is multiplied dense; measured where it is not known.

    Args:
        config: A run's settings; only the compiled backend ever changes over.
        folder: Where measurements are kept; None keeps none.
    """
    if config.backend != "compiled" or not config.sparse.phases:
        return {}
    rows = config.micro_batch * config.shape.context
    known = {} if folder is None else _read(folder / FILE)
    before, found = len(known), {}
    for name, shape in config.shape.linear_shapes().items():
        key = f"{config.sparse.unit} {shape[0]}x{shape[1]} {rows}"
        if key not in known:
            known[key] = measured(shape, rows, config.sparse.unit)
        found[name] = known[key]
    if folder is not None and len(known) > before:
        write_text(folder / FILE, json.dumps(known, indent=1, sort_keys=True))
    return found


def _read(path: Path) -> dict[str, float]:
    if not path.exists():
        return {}
    found = read_json(path, MstError, "measured densities")
    if not isinstance(found, dict) or not all(isinstance(v, float) for v in found.values()):
        raise MstError(f"{path}: holds no measured densities; remove it to measure them anew")
    return found


def measured(shape: tuple[int, int], rows: int, unit: Unit) -> float:
    """The density at which both ways take as long, forward and backward, on this thread.

    Args:
        shape: Outputs and inputs.
        rows: Samples.
        unit: What is kept: weights or blocks.
    """
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((shape[1], rows), np.float32))
    options: dict[str, Any] = {"bias": False, "layout": "columns"}
    dense = _seconds(SparseLinear(*shape[::-1], **options), x)
    last = 0.0
    for density in DENSITIES:
        layer = SparseLinear(*shape[::-1], backend="compiled", **options)
        Sparsifier({"layer": layer}, SparsityConfig(1 - density, "uniform", unit)).attach()
        if _seconds(layer, x) > dense:
            return (last + density) / 2
        last = density
    return 1.0


def _seconds(layer: SparseLinear, x: torch.Tensor) -> float:
    """Least processor time of a pass forward and backward [s]."""
    given = x.requires_grad_()

    def once() -> None:
        y = layer(given)
        y.backward(torch.ones_like(y))

    once()
    return min(timeit.repeat(once, timer=time.process_time, repeat=ROUNDS, number=1))


def apply_to(layers: Mapping[str, SparseLinear], above: Mapping[str, float]) -> None:
    """Set from which density on each layer is multiplied dense."""
    for name, density in above.items():
        layers[name].dense_above = density
