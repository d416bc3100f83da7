"""All ways of spreading units at once: each dimension has the most units that any way gives it."""

from __future__ import annotations

import numpy as np

from cost_models.exact.chain_bounds.branch import ChainBrancher
from cost_models.exact.chain_bounds.pieces import Pieces
from cost_models.exact.chain_bounds.spread import ChainSpread
from marl_common import FloatArray, IntArray


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
        bounds: Bounds of the widest spread, tables filled.
        below: The value that is of interest.
    """

    def __init__(self, bounds: ChainBrancher, below: float) -> None:
        self._tiles, self._figures = bounds.reaches(below)
        self.energy = float(self._figures[0].min(initial=np.inf))

    @property
    def held_bytes(self) -> int:
        """Memory of what is known."""
        return self._tiles.nbytes + self._figures.nbytes

    def reach(self, bounds: ChainBrancher) -> float:
        """What a spread reaches at least; inf where that is not of interest."""
        return float(self._values(bounds).min(initial=np.inf))

    def tiles(self, bounds: ChainBrancher, below: float) -> IntArray:
        """``(N, dims)`` places of the outermost memory's tiles that may be below a value."""
        found = self._tiles[self._values(bounds) < below]
        return np.unique(found, axis=0)

    def _values(self, bounds: ChainBrancher) -> FloatArray:
        energy, cycles, loads = self._figures
        first = bounds.first_turns(self._tiles)
        cycles = np.maximum(cycles, bounds.least_turns)
        cycles = np.maximum(cycles, np.where(loads > 0, first + loads, 0.0))
        return bounds.value(energy, cycles)

    def of_turns(self, bounds: ChainBrancher, turns: FloatArray) -> FloatArray:
        """What spreads of so many MAC steps reach at least."""
        order = np.lexsort((self._figures[0], self._figures[1]))
        energy, cycles = self._figures[:2, order]
        least = np.minimum.accumulate(energy)
        better = np.concatenate([[True], least[1:] < least[:-1]])[: len(order)]
        energy, cycles = energy[better], cycles[better]
        found = [bounds.value(energy, np.maximum(cycles, t)).min(initial=np.inf) for t in turns]
        return np.array(found)
