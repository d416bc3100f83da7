"""What a cost model may offer so that a solver can prove an optimum: bounds over sets of mappings.

A set holds all mappings of one allocation (the dimensions in parallel, cluster size, PEs) whose
tiles lie in given ranges, with every loop order. A range of one tile everywhere is one structure; a
set whose inner tiles are all open is what an outer structure leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cost_models.accelerator import Accelerator
    from cost_models.cost_model import CostModel
    from layers import Layer

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

OUTER_FIRST: Final = 0
OUTER_LAST: Final = 1
INNER_FIRST: Final = 2
INNER_LAST: Final = 3
"""Rows of a box: positions of the first and last outer tile, and of the inner tiles, likewise."""


@dataclass(frozen=True)
class Structures:
    """The structures of a map space: all that a mapping chooses but its loop orders.

    Args:
        parallel: ``(A, 2)`` dimensions in parallel at the outer and the inner level, an allocation
            per row.
        cluster_size: ``(A,)`` PEs of a cluster, at most `num_pes`.
        num_pes: ``(A,)`` PEs in use.
        outer_tiles: Per dimension, the outer tiles that are offered, ascending.
        inner_tiles: Per dimension, the inner tiles; one above the outer tile counts as that.
    """

    parallel: IntArray
    cluster_size: IntArray
    num_pes: IntArray
    outer_tiles: tuple[IntArray, ...]
    inner_tiles: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.cluster_size)


class LowerBounds(Protocol):
    """Bounds of an objective under one model, for one layer on one accelerator.

    Attributes:
        threads: Threads for a batch.
    """

    threads: int

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """What no mapping of each set goes below.

        Args:
            which: ``(B,)`` allocation of each set, a row of the structures.
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
    offer = getattr(model, "lower_bounds_of", None)
    if offer is None:
        return None
    bounds: LowerBounds | None = offer(layer, accelerator, figures, limits, structures)
    return bounds
