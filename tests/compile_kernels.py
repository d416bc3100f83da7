"""Compile what most tests run, once; `make test` runs this beside the lint.

Each process of pytest would otherwise compile the same functions for itself, at the same time.
"""

from __future__ import annotations

import numpy as np

import baselines
from common import IntArray
from cost_models import load
from maestro_env import Problem


def main() -> None:
    """Evaluate, search and prove a little with each cost model."""
    for accelerator in ("edge", "eyeriss"):  # buffers for all tensors, and for each of them
        problem = Problem("mlp.2", accelerator, "edp")
        problem.evaluate(_first(problem))
    baselines.prove(Problem("mlp.2", "edge", "edp"))
    for name in ("simulator",):
        problem = Problem("mlp.2", "edge", "edp", cost_model=load(name))
        problem.evaluate(_first(problem))
    compile_sparse()


def compile_sparse() -> None:
    """Multiply, normalise and learn with sparse layers of both units and types."""
    import torch

    from sparse_training import SparseAdam, SparseLinear, Sparsifier, SparsityConfig, layer_norm

    for dtype in (torch.float32, torch.float64):
        for unit in ("free", "block4"):
            layer = SparseLinear(16, 16, layout="columns", backend="compiled", dtype=dtype)
            Sparsifier({"layer": layer}, SparsityConfig(0.5, unit=unit)).attach()
            x = torch.ones(16, 3, dtype=dtype, requires_grad=True)
            layer_norm(layer(x), torch.ones(16, dtype=dtype)).sum().backward()
            SparseAdam(layer.parameters(), clip=1.0).step()


def _first(problem: Problem) -> IntArray:
    return np.zeros((2, len(problem.space.nvec)), dtype=np.int64)


if __name__ == "__main__":
    main()
