"""A pass over several layers as it is called with tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from sparse_training.kernels import layers, passes
from sparse_training.kernels.index import layer_row
from sparse_training.kernels.vectors import VECTORS, address_of
from sparse_training.structure import Shape

Weights = Sequence[tuple[Tensor, Tensor | None]]
"""Kept values and bias of each layer."""


class LayerPlace(NamedTuple):
    """Where a layer stands among others.

    Attributes:
        reads: First row of the tile that it reads.
        gives: First row of the tile that it gives.
        result: First row of the result that it gives; -1 where another layer reads it.
        relu: Whether it has a ReLU.
    """

    reads: int
    gives: int
    result: int
    relu: bool


class PassExtent(NamedTuple):
    """Rows of a pass.

    Attributes:
        inputs: Of the input.
        height: Of a tile.
        results: Of the result.
    """

    inputs: int
    height: int
    results: int


class CompiledPass:
    """Layers of certain structures, each in its place.

    Args:
        kept: Index and shape of each layer, and whether it keeps blocks.
        places: Of each layer.
        extent: Rows of the pass.
    """

    def __init__(
        self, kept: Sequence[tuple[Tensor, Shape, bool]], places: Sequence[LayerPlace],
        extent: PassExtent,
    ) -> None:  # fmt: skip
        self._indices, self._extent = [index for index, *_ in kept], extent
        table = np.zeros((len(places), layers.WIDTH), dtype=np.int64)
        for row, place, (index, shape, blocks) in zip(table, places, kept, strict=True):
            sizes, addresses = layer_row(index, *shape, blocks)
            row[: layers.VALUES] = *sizes, *place, blocks, *addresses
        self._table = table
        self._kept = int(table[:, layers.KEPT].sum())

    def reads(self, indices: Sequence[Tensor]) -> bool:
        """Whether the pass is of these indices."""
        return all(a is b for a, b in zip(self._indices, indices, strict=True))

    def forward(self, x: Tensor, weights: Weights, *, keep: bool) -> tuple[Tensor, Tensor]:
        """What the layers give.

        Args:
            x: ``(inputs, rows)``, contiguous as everything here.
            weights: Of the same type.
            keep: Keep all tiles, as :meth:`backward` needs them.

        Returns:
            ``(results, rows)``, and the tiles.
        """
        table, (sizes, one) = self._filled(weights), self._sizes(x)
        _, _, height, rows, lanes, _ = sizes
        tiles = x.new_empty((-(-rows // lanes) if keep else 1) * height * lanes)
        out, spare = x.new_empty((self._extent.results, rows)), x.new_empty(lanes)
        passes.forward(
            one, sizes, table.ctypes.data, x.data_ptr(), out.data_ptr(), tiles.data_ptr(),
            height * lanes if keep else 0, spare.data_ptr(),
        )  # fmt: skip
        return out, tiles

    def backward(self, tiles: Tensor, above: Tensor, weights: Weights) -> list[Tensor | None]:
        """Gradients of the kept values and the bias of each layer, one after the other.

        Args:
            tiles: What :meth:`forward` kept.
            above: Gradient of the result.
            weights: As they were.
        """
        flat = [tensor for pair in weights for tensor in pair]
        numbers = [0 if tensor is None else tensor.numel() for tensor in flat]
        pieces = torch.split(above.new_empty(sum(numbers)), numbers)
        found: list[Tensor | None] = [
            None if tensor is None else piece.view(tensor.shape)
            for tensor, piece in zip(flat, pieces, strict=True)
        ]
        table = self._filled(weights)
        table[:, layers.FOR_VALUES] = [address_of(tensor) for tensor in found[::2]]
        table[:, layers.FOR_BIAS] = [address_of(tensor) for tensor in found[1::2]]
        sizes, one = self._sizes(above)
        _, _, height, _, lanes, part = sizes
        work = above.new_empty((1 + height) * lanes + self._kept + sum(numbers) * part)
        passes.backward(
            one, sizes, table.ctypes.data, tiles.data_ptr(), above.data_ptr(),
            (self._kept, sum(numbers)), work.data_ptr(),
        )  # fmt: skip
        return found

    def _filled(self, weights: Weights) -> Any:
        """The table with the addresses of these weights."""
        table = self._table.copy()
        table[:, layers.VALUES] = [values.data_ptr() for values, _ in weights]
        table[:, layers.BIAS] = [address_of(bias) for _, bias in weights]
        return table

    def _sizes(self, x: Tensor) -> tuple[tuple[int, ...], Any]:
        lanes, part, one = VECTORS[x.dtype]
        extent = self._extent
        return (len(self._table), extent.inputs, extent.height, x.shape[1], lanes, part), one
