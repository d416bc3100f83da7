"""A structure as compiled kernels read it, and their products of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from common import Int32Array, IntArray
from sparse_training.kernels import block4, csr
from sparse_training.kernels.vectors import NARROW, WIDE
from sparse_training.structure import BLOCK, Structure


class ProductGradients(NamedTuple):
    """Gradients of a product.

    Attributes:
        x: ``(I, rows)``, or None where it was not asked.
        values: Shaped as the kept values.
        bias: ``(O,)``; empty where there is none.
    """

    x: Tensor | None
    values: Tensor
    bias: Tensor


class CompiledIndex:
    """Where the kept units of a layer are, by rows and by columns.

    Args:
        structure: The kept units; it never changes.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        rows, columns = structure.grid
        row, column = np.divmod(structure.kept, columns)
        order = np.argsort(column, kind="stable")
        numbers = np.arange(len(order), dtype=np.int32)
        self._order = torch.from_numpy(order)
        along = _starts(row, rows), column.astype(np.int32)
        across = _starts(column, columns), row[order].astype(np.int32)
        self._blocks = structure.unit == "block4"
        self._along: tuple[Int32Array, ...] = along
        self._across: tuple[Int32Array, ...] = across
        if self._blocks:
            self._along, self._across = (*along, numbers), (*across, order.astype(np.int32))
        self._kernels: Any = block4 if self._blocks else csr

    def forward(self, x: Tensor, values: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
        """``act(W x + bias)``, ``(O, rows)``.

        Args:
            x: ``(I, rows)``, contiguous.
            values: The kept weights.
            bias: ``(O,)`` or None.
            relu: Whether there is one.
        """
        out = x.new_empty((self.structure.shape[0], x.shape[1]))
        lanes = WIDE // x.element_size()
        work = x.new_empty((self._wide(1) + 1) * lanes)
        added = np.empty(0, _array(x).dtype) if bias is None else _array(bias)
        self._kernels.forward(
            _array(values).reshape(-1), self._along, added, relu, _array(x), _array(out), lanes,
            _array(work),
        )  # fmt: skip
        return out

    def backward(
        self, x: Tensor, values: Tensor, y: Tensor | None, above: Tensor, *, for_x: bool, bias: bool
    ) -> ProductGradients:
        """Gradients of the product.

        Args:
            x: Its input.
            values: The kept weights.
            y: Its output where it had a ReLU, else None.
            above: ``(O, rows)`` gradient of the output, contiguous.
            for_x: Whether the input's gradient is asked.
            bias: Whether there is one.
        """
        found = ProductGradients(
            torch.empty_like(x) if for_x else None,
            torch.empty_like(values),
            x.new_empty(self.structure.shape[0] if bias else 0),
        )
        lanes, part = WIDE // x.element_size(), NARROW // x.element_size()
        room = (self._wide(0) + self._wide(1) + 1) * lanes
        room += (values.numel() + found.bias.numel()) * part
        none = np.empty((0, 0), _array(x).dtype)
        across = values.reshape(-1) if self._blocks else values[self._order]
        self._kernels.backward(
            self._along,
            _array(across),
            self._across,
            _array(x),
            none if y is None else _array(y),
            _array(above),
            none if found.x is None else _array(found.x),
            _array(found.values).reshape(-1),
            _array(found.bias),
            lanes,
            part,
            _array(x.new_empty(room)),
        )
        return found

    def _wide(self, side: int) -> int:
        """Rows of a tile of the outputs (0) or inputs (1)."""
        return self.structure.grid[side] * (BLOCK if self._blocks else 1)


def _starts(places: IntArray, count: int) -> Int32Array:
    """``(count + 1,)``: where each row's units begin."""
    return np.concatenate([[0], np.cumsum(np.bincount(places, minlength=count))]).astype(np.int32)


def _array(tensor: Tensor) -> Any:
    return tensor.detach().numpy()
