"""The numbers of a layer's weights in both of their forms: written out, or the kept ones alone.

A dense form is an ``(O, I)`` tensor that is 0 wherever no weight is kept; the other one holds what
`Structure.value_shape` says, units in ascending order.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from marl_common import IntArray
from sparse_training.structure import BLOCK, Structure


class Form(NamedTuple):
    """How a layer's numbers lie in memory.

    Attributes:
        structure: The kept units.
        packed: Whether only the kept numbers are held.
    """

    structure: Structure
    packed: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor that holds them."""
        return self.structure.value_shape if self.packed else self.structure.shape


def gather(dense: Tensor, structure: Structure) -> Tensor:
    """The kept values of an ``(O, I)`` tensor, as `Structure.value_shape`."""
    kept = torch.from_numpy(structure.kept).to(dense.device)
    if structure.unit == "free":
        return dense.reshape(-1)[kept]
    return _cut(dense, structure)[kept]


def scatter(values: Tensor, structure: Structure) -> Tensor:
    """The ``(O, I)`` tensor of which these are the kept values."""
    kept = torch.from_numpy(structure.kept).to(values.device)
    if structure.unit == "free":
        flat = values.new_zeros(structure.units)
        flat[kept] = values
        return flat.reshape(structure.shape)
    blocks = values.new_zeros((structure.units, BLOCK, BLOCK))
    blocks[kept] = values
    rows, columns = structure.grid
    whole = blocks.reshape(rows, columns, BLOCK, BLOCK).transpose(1, 2)
    whole = whole.reshape(rows * BLOCK, columns * BLOCK)
    return whole[: structure.shape[0], : structure.shape[1]].contiguous()


def unit_sums(dense: Tensor, structure: Structure) -> Tensor:
    """``(units,)`` sums of the magnitudes of each unit of an ``(O, I)`` tensor."""
    if structure.unit == "free":
        return dense.abs().reshape(-1)
    return _cut(dense.abs(), structure).sum(dim=(1, 2))


def moved(tensor: Tensor, before: Form, after: Form, born: float = 0.0) -> Tensor:
    """The numbers of a layer after its structure has changed.

    Args:
        tensor: The numbers in the form `before`.
        before: Their form.
        after: Their form from now on.
        born: Number of units that are new; units that are gone lose theirs.
    """
    values = tensor if before.packed else gather(tensor, before.structure)
    places = after.structure.found_in(before.structure)
    values = taken(values, places, born)
    return values if after.packed else scatter(values, after.structure)


def taken(values: Tensor, places: IntArray, other: float = 0.0) -> Tensor:
    """The units of the given places, and `other` wherever a place is -1."""
    at = torch.from_numpy(places).to(values.device)
    if len(values) == 0:
        return values.new_full((len(places), *values.shape[1:]), other)
    found = values[at.clamp(min=0)]
    found[at < 0] = other
    return found


def _cut(dense: Tensor, structure: Structure) -> Tensor:
    """``(units, 4, 4)``: an ``(O, I)`` tensor cut into blocks, zeros beyond the edges."""
    rows, columns = structure.grid
    padding = (0, columns * BLOCK - dense.shape[1], 0, rows * BLOCK - dense.shape[0])
    whole = torch.nn.functional.pad(dense, padding)
    whole = whole.reshape(rows, BLOCK, columns, BLOCK).transpose(1, 2)
    return whole.reshape(-1, BLOCK, BLOCK)
