"""The bounds that the exact model offers for one problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.exact.bounds.bound_problem import BOUNDED, D, bound_problem
from cost_models.lower_bounds import FloatArray, IntArray, Structures
from cost_models.threads import run_rows
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions


class ExactBounds:
    """Bounds of an objective under the exact model; see :class:`cost_models.LowerBounds`.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective.
        limits: Largest figures allowed, such as ``{"max_latency_cycles": 1e6}``.
        structures: Allocations and tiles.
        threads: Threads for a batch.
    """

    def __init__(
        self,
        model: ExactOptions,
        layer: Layer,
        accelerator: Accelerator,
        figures: Sequence[str],
        limits: Mapping[str, float],
        structures: Structures,
        threads: int = 1,
    ) -> None:
        least = model.lower_bounds(layer, accelerator)
        scale = math.prod(least[name] for name in figures if name not in BOUNDED)
        self._problem = bound_problem(model, layer, accelerator, figures, limits, structures, scale)
        self._units, self._spread = _units(layer, structures)
        self.threads = threads

    def bounds(self, which: IntArray, boxes: NDArray[np.signedinteger[Any]]) -> FloatArray:
        """See :meth:`cost_models.LowerBounds.bounds`."""
        from cost_models.exact.bounds.box_kernel import bound_boxes

        out = np.empty(len(which))

        def work(low: int, high: int) -> None:
            bound_boxes(self._problem, self._units, self._spread, which, boxes, out, low, high)

        run_rows(work, len(which), self.threads)
        return out


def _units(layer: Layer, structures: Structures) -> tuple[IntArray, IntArray]:
    """``(A, 2, D)`` units along each dimension, and ``(A,)`` the parallel dimensions as bits."""
    extents = np.array(layer.extents, dtype=np.int64)
    count = len(structures)
    units = np.ones((count, 2, D), dtype=np.int64)
    rows = np.arange(count)
    for level, number in enumerate(
        (structures.num_pes // structures.cluster_size, structures.cluster_size)
    ):
        dims = structures.parallel[:, level]
        units[rows, level, dims] = np.minimum(number, extents[dims])
    units[structures.cluster_size > structures.num_pes] = 0
    return units, (1 << structures.parallel).sum(axis=1) - np.where(
        structures.parallel[:, 0] == structures.parallel[:, 1], 1 << structures.parallel[:, 0], 0
    )
