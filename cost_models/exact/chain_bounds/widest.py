"""All ways of spreading units at once: each dimension has the most units that any way gives it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.branch import ChainBrancher
from cost_models.exact.chain_bounds.pieces import Pieces
from cost_models.exact.chain_bounds.spread import ChainSpread
from marl_common import FloatArray


class WidestSpread(ChainSpread):
    """A spread that moves no more, and takes no longer, than any with fewer units.

    Instances that tensors are sent to apart count once, and none is certain to be filled.
    """

    alone = False

    def pieces(self, m: int, d: int) -> Pieces:
        """One piece, as if no units shared it."""
        return ((self.extents[d], 1),)

    def filled(self, m: int, d: int) -> int:
        """No units."""
        return 0

    def surely_inside(self, m: int, d: int) -> int:
        """One unit."""
        return 1


class Frontier:
    """What the outermost memory's tiles take at least, however units are spread.

    Args:
        bounds: Bounds of the widest spread, tables filled; None where there is none.
        energy: What no mapping goes below, where there is none [nJ].
    """

    def __init__(self, bounds: ChainBrancher | None, energy: float = 0.0) -> None:
        self.energy, self.cycles = np.array([energy]), np.zeros(1)
        self._grids: list[FloatArray] | None = None
        if bounds is None:
            return
        at, found = bounds.reaches()
        energies, cycles = np.array([e for e, _ in found]), np.array([c for _, c in found])
        self._grids = [np.full(bounds.togo.shape, np.inf) for _ in range(3)]
        whole = bounds.value(energies, cycles).min(axis=0)
        for grid, each in zip(self._grids, (energies.min(0), cycles.min(0), whole), strict=True):
            grid[at] = each
        energies, cycles = energies.ravel(), cycles.ravel()
        order = np.lexsort((energies, cycles))
        energies, cycles = energies[order], cycles[order]
        least = np.minimum.accumulate(energies)
        better = np.concatenate([[True], least[1:] < least[:-1]])[: len(order)]
        self.energy, self.cycles = energies[better], cycles[better]

    def may(self, bounds: ChainBrancher, below: float) -> Any:
        """Whether vectors of the outermost memory's tiles may be below a value, by one spread."""
        if self._grids is None:
            return np.ones(bounds.togo.shape, np.bool_)
        energy, cycles, whole = self._grids
        cycles = np.maximum(cycles, bounds.least_turns())
        return (whole < below) & (bounds.value(energy, cycles) < below)
