"""Floating-point operations of sparse layers: multiplying and adding are two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sparse_training.linear import SparseLinear
from sparse_training.structure import BLOCK, Shape


@dataclass(frozen=True)
class Additive:
    """Counts that add up, and are multiplied by how often they are made, field by field."""

    def __add__(self, other: Self) -> Self:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*(ours + theirs for ours, theirs in pairs))

    def __mul__(self, times: int) -> Self:
        return type(self)(*(count * times for count in vars(self).values()))


@dataclass(frozen=True)
class Flops(Additive):
    """Operations by pass.

    Attributes:
        forward: Of forward passes.
        backward: Of gradients of inputs and of kept weights.
        topology: Of gradients of the other weights, which topology steps need.
    """

    forward: int = 0
    backward: int = 0
    topology: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class FlopColumns(Additive):
    """The same work, counted twice.

    Attributes:
        theoretical: Of the kept weights.
        executed: Of all that the backend multiplies, zeros too.
    """

    theoretical: Flops = Flops()
    executed: Flops = Flops()


def linear_flops(kept: int, rows: int, *, reads_data: bool = False) -> Flops:
    """A layer's forward and backward pass.

    Args:
        kept: Weights that are multiplied.
        rows: Samples.
        reads_data: Whether the layer's input needs no gradient.
    """
    product = 2 * kept * rows
    return Flops(product, product if reads_data else 2 * product)


def topology_flops(shape: Shape, kept: int, rows: int) -> Flops:
    """What the dense gradient of a topology step adds to a backward pass."""
    return Flops(topology=2 * (shape[0] * shape[1] - kept) * rows)


def layer_flops(
    layer: SparseLinear, rows: int, *, reads_data: bool = False, topology: bool = False
) -> FlopColumns:
    """What a forward and backward pass of a layer counts, and what its backend does.

    Args:
        layer: The layer as it is now.
        rows: Samples.
        reads_data: Whether its input needs no gradient.
        topology: Whether the pass is followed by a topology step that needs dense gradients.
    """
    structure = layer.structure
    size = layer.weight_count
    kept = size if structure is None else structure.weights
    theoretical = linear_flops(kept, rows, reads_data=reads_data)
    executed = linear_flops(multiplied(layer), rows, reads_data=reads_data)
    if topology:
        theoretical += topology_flops(layer.shape, kept, rows)
        # a packed layer computes the dense gradient beside that of the kept weights
        executed += Flops(topology=2 * size * rows if layer.packed else 0)
    return FlopColumns(theoretical, executed)


def multiplied(layer: SparseLinear) -> int:
    """Weights that a product of the layer multiplies, zeros and edges of blocks too."""
    if layer.structure is None or not layer.packed:
        return layer.weight_count
    each = BLOCK * BLOCK if layer.structure.unit == "block4" else 1
    return each * len(layer.structure.kept)
