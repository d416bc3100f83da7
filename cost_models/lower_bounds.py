"""What a cost model may offer so that a solver can prove an optimum: bounds over sets of mappings.

A set holds all mappings of one allocation (units along dimensions, PEs, tensors that bypass a
level) whose tiles lie in given ranges, with every loop order. A range of one tile everywhere is one
structure; a set whose inner tiles are all open is what an outer structure leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.cost_model import CostModel
from layers import Layer
from marl_common import FloatArray, IntArray

OUTER_FIRST, OUTER_LAST, INNER_FIRST, INNER_LAST = range(4)
"""Rows of a box: positions of the first and last outer tile, and of the inner tiles, likewise."""


class Places(NamedTuple):
    """Where allocations stand in the tables of :class:`Structures`.

    Args:
        bypass: ``(B,)`` rows of `bypasses`.
        array: ``(B,)`` rows of `arrays`.
        fans: ``(B, 2)`` rows of `fans`, of the outer and of the inner level.
    """

    bypass: IntArray
    array: IntArray
    fans: IntArray


@dataclass(frozen=True)
class Structures:
    """The structures of a map space: all that a mapping chooses but its loop orders.

    An allocation says which units work along which dimension, and which tensors bypass which level.
    There may be millions of them, so they are numbered, not listed: by bypass, then by
    the array of PEs, the outer level's fan and the inner level's fan, the last the quickest.

    Args:
        fans: ``(F, D)`` ways of spreading the units of a level: units along each dimension, at
            least 1.
        spread: ``(F,)`` dimensions in parallel, as bits.
        arrays: ``(G, 4)`` of each cluster size and number of PEs the first fan of the outer level,
            how many it has, and the same of the inner level.
        num_pes: ``(G,)`` PEs in use.
        bypasses: ``(V, 2, 3)`` whether input, filter and output bypass L2 and L1 (besides those
            that the accelerator does not hold there).
        outer_tiles: Per dimension, the outer tiles that are offered, ascending.
        inner_tiles: Per dimension, the inner tiles; one above the outer tile counts as that.
    """

    fans: NDArray[np.int32]
    spread: IntArray
    arrays: IntArray
    num_pes: IntArray
    bypasses: NDArray[np.bool_]
    outer_tiles: tuple[IntArray, ...]
    inner_tiles: tuple[IntArray, ...]

    @cached_property
    def starts(self) -> IntArray:
        """``(G + 1,)`` number of each array's first allocation; the last: of all of one bypass."""
        return np.append(0, np.cumsum(self.arrays[:, 1] * self.arrays[:, 3]))

    def __len__(self) -> int:
        return len(self.bypasses) * int(self.starts[-1])

    def places(self, which: IntArray) -> Places:
        """Where ``(B,)`` allocations stand."""
        bypass, rest = np.divmod(which, self.starts[-1])
        array = np.searchsorted(self.starts, rest, side="right") - 1
        first, _, second, many = self.arrays[array].T
        outer, inner = np.divmod(rest - self.starts[array], many)
        return Places(bypass, array, np.stack([first + outer, second + inner], axis=1))

    def units(self, which: IntArray) -> NDArray[np.int32]:
        """``(B, 2, D)`` clusters, and PEs of a cluster, along each dimension."""
        return self.fans[self.places(which).fans]


class LowerBounds(Protocol):
    """Bounds of an objective under one model, for one layer on one accelerator.

    Attributes:
        threads: Threads for a batch.
        sizes_priced: Whether the objective rises with what the buffers must hold. Outer and inner
            tiles then decide together, and are best narrowed in turn.
    """

    threads: int
    sizes_priced: bool

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """What no mapping of each set goes below.

        Args:
            which: ``(B,)`` allocation of each set, its number in the structures.
            boxes: ``(B, 4, D)`` positions of tiles, in the rows `OUTER_FIRST` to `INNER_LAST`.

        Returns:
            ``(B,)`` bounds in the objective's unit, inf where no mapping of the set is feasible or
            within the limits. Rounding may put a bound above a cost by one part in 10^12.
        """


def lower_bounds_of(
    model: CostModel,
    layer: Layer,
    accelerator: Accelerator,
    figures: Sequence[str],
    limits: Mapping[str, float],
    structures: Structures,
) -> LowerBounds | None:
    """The bounds that a model offers by a method of this name; None where it offers none.

    Args:
        model: The cost model.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, names of :data:`~cost_models.cost.FIGURES`.
        limits: Largest figures allowed, such as ``{"max_latency_cycles": 1e6}``; a bound may leave
            out any of them.
        structures: Allocations and tiles.
    """
    offer: Any = getattr(model, "lower_bounds_of", lambda *_: None)
    bounds: LowerBounds | None = offer(layer, accelerator, figures, limits, structures)
    return bounds
