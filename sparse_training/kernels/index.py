"""A structure as kernels read it: one array of whole numbers, by rows and by columns."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from marl_common import IntArray
from sparse_training.errors import SparseTrainingError
from sparse_training.structure import BLOCK, Shape, Structure, unit_grid

BYTES = 4
"""Of a number of an index."""


def index_of(structure: Structure) -> Tensor:
    """Where the kept units of a layer are.

    Returns:
        int32: for each row of units its first kept one, and one past the last; their columns and
        their numbers; then the same by columns.
    """
    rows, columns = structure.grid
    row, column = np.divmod(structure.kept, columns)
    order = np.argsort(column, kind="stable")
    parts = (
        *(_starts(row, rows), column, np.arange(len(order))),
        *(_starts(column, columns), row[order], order),
    )
    return torch.from_numpy(np.concatenate(parts).astype(np.int32))


def layer_row(
    index: Tensor, outputs: int, inputs: int, blocks: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What a table of layers holds of a structure (`kernels.layers`).

    Args:
        index: The structure's; it has to live as long as the addresses are used.
        outputs: Of the layer.
        inputs: Of the layer.
        blocks: Whether blocks are kept.

    Returns:
        Outputs, inputs and kept weights, those of blocks beyond the edges counted; and the
        addresses of the index.

    Raises:
        SparseTrainingError: It is none of a layer of this shape.
    """
    return _row_at(index.data_ptr(), index.numel(), (outputs, inputs), blocks)


@lru_cache(maxsize=4096)
def _row_at(
    at: int, numbers: int, shape: Shape, blocks: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rows, columns = unit_grid(shape, "block4" if blocks else "free")
    units, rest = divmod(numbers - rows - columns - 2, 4)
    if rest or units < 0:
        raise SparseTrainingError(
            f"index of {numbers} numbers; expected one of {shape[0]} x {shape[1]} weights."
        )
    lengths = (rows + 1, units, units, columns + 1, units)
    addresses = accumulate((length * BYTES for length in lengths), initial=at)
    return (*shape, units * (BLOCK * BLOCK if blocks else 1)), tuple(addresses)


def _starts(places: IntArray, count: int) -> IntArray:
    """``(count + 1,)``: where each row's units begin."""
    return np.concatenate([[0], np.cumsum(np.bincount(places, minlength=count))])
