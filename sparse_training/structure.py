"""Which weights of a layer are kept: single ones, or blocks of 4 x 4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marl_common import BoolArray, IntArray

Unit = Literal["free", "block4"]
"""What is kept or dropped as a whole: a weight, or a block of 4 x 4 weights."""
UNITS: tuple[Unit, ...] = ("free", "block4")
BLOCK = 4
"""Rows and columns of a block."""
Shape = tuple[int, int]
"""Outputs and inputs of a layer."""


class Degrees(NamedTuple):
    """Kept weights at each end of a layer.

    Attributes:
        fan_in: ``(O,)`` kept weights of each output.
        fan_out: ``(I,)`` kept weights of each input.
    """

    fan_in: IntArray
    fan_out: IntArray


def unit_grid(shape: Shape, unit: Unit) -> Shape:
    """Rows and columns of the units of a layer; blocks at the edges reach over them."""
    if unit == "free":
        return shape
    return -(-shape[0] // BLOCK), -(-shape[1] // BLOCK)


@dataclass(frozen=True, eq=False)
class Structure:
    """The kept units of one layer.

    Args:
        shape: Outputs and inputs.
        unit: What is kept as a whole.
        kept: Row-major numbers of the kept units in the grid of units, ascending.
    """

    shape: Shape
    unit: Unit
    kept: IntArray

    @classmethod
    def whole(cls, shape: Shape, unit: Unit) -> Structure:
        """The structure that keeps everything."""
        rows, columns = unit_grid(shape, unit)
        return cls(shape, unit, np.arange(rows * columns))

    @classmethod
    def of_bits(cls, shape: Shape, unit: Unit, bits: NDArray[np.uint8]) -> Structure:
        """The structure of which :attr:`bits` were kept."""
        count = np.prod(unit_grid(shape, unit))
        return cls(shape, unit, np.flatnonzero(np.unpackbits(bits, count=int(count))))

    @cached_property
    def grid(self) -> Shape:
        """Rows and columns of the units."""
        return unit_grid(self.shape, self.unit)

    @cached_property
    def units(self) -> int:
        """Kept and other units."""
        return self.grid[0] * self.grid[1]

    @cached_property
    def full(self) -> bool:
        """Whether all units are kept."""
        return len(self.kept) == self.units

    @property
    def chosen(self) -> BoolArray:
        """``(units,)``: which units are kept, a new array."""
        found = np.zeros(self.units, dtype=np.bool_)
        found[self.kept] = True
        return found

    @cached_property
    def mask(self) -> BoolArray:
        """``(O, I)``: which weights are kept."""
        whole = self.chosen.reshape(self.grid)
        if self.unit == "block4":
            whole = whole.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
        return whole[: self.shape[0], : self.shape[1]]

    @cached_property
    def weights(self) -> int:
        """Kept weights; what a block has beyond an edge is no weight."""
        return int(self.mask.sum())

    @property
    def density(self) -> float:
        """Share of the weights that is kept."""
        return self.weights / (self.shape[0] * self.shape[1])

    @property
    def bits(self) -> NDArray[np.uint8]:
        """A bit for each unit, eight in a byte."""
        return np.packbits(self.chosen)

    @property
    def value_shape(self) -> tuple[int, ...]:
        """Shape of the kept values: ``(k,)``, or ``(blocks, 4, 4)``."""
        count = len(self.kept)
        return (count,) if self.unit == "free" else (count, BLOCK, BLOCK)

    def __deepcopy__(self, memo: object) -> Structure:
        """Itself: a structure never changes."""
        return self

    def degrees(self) -> Degrees:
        """Kept weights of each output and input."""
        return Degrees(self.mask.sum(axis=1, dtype=np.int64), self.mask.sum(axis=0, dtype=np.int64))

    def found_in(self, other: Structure) -> IntArray:
        """For each kept unit its place among those of another structure; -1 where it has none."""
        places = np.full(other.units, -1, dtype=np.int64)
        places[other.kept] = np.arange(len(other.kept))
        found: IntArray = places[self.kept]
        return found

    def same_as(self, other: Structure | None) -> bool:
        """Whether another structure keeps the same units."""
        return self is other or (
            other is not None
            and (self.shape, self.unit) == (other.shape, other.unit)
            and np.array_equal(self.kept, other.kept)
        )
