"""A structure as compiled kernels read it, and their products of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from common import IntArray
from sparse_training.kernels import block4, csr
from sparse_training.kernels.vectors import NARROW, WIDE, address_of
from sparse_training.structure import BLOCK, Structure


class ProductGradients(NamedTuple):
    """Gradients of a product.

    Attributes:
        x: ``(I, rows)``, or None where it was not asked.
        values: Shaped as the kept values.
        bias: ``(O,)``, or None where there is none.
    """

    x: Tensor | None
    values: Tensor
    bias: Tensor | None


class CompiledIndex:
    """Where the kept units of a layer are, by rows and by columns.

    Args:
        structure: The kept units; it never changes.

    Attributes:
        addresses: Where kernels find the index; it lives as long as this object.
        kept: Kept weights, those of blocks beyond the edges counted.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        rows, columns = structure.grid
        row, column = np.divmod(structure.kept, columns)
        order = np.argsort(column, kind="stable")
        self._arrays = [
            np.ascontiguousarray(array, dtype=np.int32)
            for array in (
                *(_starts(row, rows), column, np.arange(len(order))),
                *(_starts(column, columns), row[order], order),
            )
        ]
        self.addresses = [array.ctypes.data for array in self._arrays]
        kernels: Any = csr if structure.unit == "free" else block4
        self._forward, self._backward = kernels.forward, kernels.backward
        each = 1 if structure.unit == "free" else BLOCK
        self._high, self._wide = rows * each, columns * each
        self.kept = len(order) * each * each

    def forward(self, x: Tensor, values: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
        """``act(W x + bias)``, ``(O, rows)``.

        Args:
            x: ``(I, rows)``, contiguous.
            values: The kept weights, of the same type, contiguous as everything here.
            bias: ``(O,)`` or None.
            relu: Whether there is one.
        """
        sizes, one = self._sizes(x)
        out = x.new_empty((sizes[0], sizes[2]))
        work = x.new_empty((1 + self._wide) * sizes[4])
        self._forward(
            one, sizes, *self.addresses[:3], values.data_ptr(), address_of(bias), relu,
            x.data_ptr(), out.data_ptr(), work.data_ptr(),
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
            above: ``(O, rows)`` gradient of the output.
            for_x: Whether the input's gradient is asked.
            bias: Whether there is one.
        """
        sizes, one = self._sizes(x)
        outputs, _, _, kept, lanes, part = sizes
        for_bias = x.new_empty(outputs) if bias else None
        found = ProductGradients(
            torch.empty_like(x) if for_x else None, torch.empty_like(values), for_bias
        )
        room = (1 + self._wide + self._high) * lanes + (kept + outputs) * part + kept
        work = x.new_empty(room)
        self._backward(
            one, sizes, *self.addresses, values.data_ptr(), x.data_ptr(), address_of(y),
            above.data_ptr(), address_of(found.x), found.values.data_ptr(), address_of(found.bias),
            work.data_ptr(),
        )  # fmt: skip
        return found

    def _sizes(self, x: Tensor) -> tuple[tuple[int, ...], Any]:
        """Outputs, inputs, rows, kept weights, numbers of a wide and a narrow vector; and a 1."""
        outputs, inputs = self.structure.shape
        lanes, part, one = VECTORS[x.dtype]
        return (outputs, inputs, x.shape[1], self.kept, lanes, part), one


VECTORS = {
    torch.float32: (WIDE // 4, NARROW // 4, np.float32(1)),
    torch.float64: (WIDE // 8, NARROW // 8, np.float64(1)),
}
"""Numbers of a wide and a narrow vector, and a 1 that tells the kernels their type."""


def _starts(places: IntArray, count: int) -> IntArray:
    """``(count + 1,)``: where each row's units begin."""
    return np.concatenate([[0], np.cumsum(np.bincount(places, minlength=count))])
