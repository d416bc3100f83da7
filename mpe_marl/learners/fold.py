"""Folding a first layer onto the world state.

Observations are a fixed linear map of the state, ``o = s M`` with at most two entries a column.
So a layer on all observations is one on the state: ``o W = s (M W)``. The state is ``N`` times
smaller than the observations together, and the product with the sparse ``M`` costs one pass over
``W``. Exact up to rounding, and the gradient is ``M^T`` times that of ``M W``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mpe_marl.worlds.spec import WorldSpec


class Fold:
    """The map from state to observations as sparse matrices.

    Args:
        spec: The world.
        dtype: Type of the numbers.
        device: Where they live.
    """

    def __init__(self, spec: WorldSpec, dtype: torch.dtype, device: torch.device) -> None:
        n, d, s = spec.n_agents, spec.obs_dim, spec.state_dim
        self._n, self._d, self._s = n, d, s
        firsts, seconds = spec.observation_terms.reshape(2, n * d)
        column = np.arange(n * d)
        rows = np.concatenate([firsts, seconds])
        columns = np.concatenate([column, column])
        signs = np.concatenate([np.ones(n * d), -np.ones(n * d)])
        live = rows < s  # the column that stands for zero adds nothing
        rows, columns, signs = rows[live], columns[live], signs[live]
        self._all = _pair(rows, columns, signs, (s, n * d), dtype, device)
        own_rows = (columns // d) * s + rows  # each agent its own copy of the state's rows
        self._each = _pair(own_rows, columns, signs, (n * s, n * d), dtype, device)

    def all(self, weight: Tensor) -> Tensor:
        """Fold layers on all observations: ``(N * D, M, hidden)`` to ``(S, M, hidden)``."""
        folded = _product(weight.reshape(self._n * self._d, -1), self._all)
        return folded.view(self._s, *weight.shape[1:])

    def each(self, weight: Tensor) -> Tensor:
        """Fold each agent's layer on its own: ``(N, D, hidden)`` to ``(S, N, hidden)``."""
        folded = _product(weight.reshape(self._n * self._d, -1), self._each)
        return folded.view(self._n, self._s, -1).transpose(0, 1)


def _pair(
    rows: Any,
    columns: Any,
    values: Any,
    shape: tuple[int, int],
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[Tensor, Tensor]:
    """A sparse matrix and its transpose, by compressed rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        matrix = torch.sparse_coo_tensor(
            torch.as_tensor(np.stack([rows, columns])),
            torch.as_tensor(values),
            shape,
            dtype=dtype,
            device=device,
            check_invariants=True,
        ).coalesce()
        return matrix.to_sparse_csr(), matrix.t().coalesce().to_sparse_csr()


def _product(dense: Tensor, matrices: tuple[Tensor, Tensor]) -> Tensor:
    result: Tensor = _Product.apply(dense, *matrices)  # type: ignore[no-untyped-call]
    return result


class _Product(torch.autograd.Function):
    """Sparse times dense, with the gradient of the dense factor."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        product: Tensor = torch.sparse.mm(matrix, dense)
        return product

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return torch.sparse.mm(ctx.transposed, gradients[0].contiguous()), None, None
