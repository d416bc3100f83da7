"""Time of steps that wait in turns: for a tensor that comes in some of them, and for the MACs."""

from __future__ import annotations

from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import NOTHING, Grid, RestCosts
from cost_models.exact.chain_bounds.spread import WINDOWS, MoveCosts
from cost_models.exact.chain_bounds.togo import CostsToGo
from cost_models.exact.nest import INPUT

SHARES = (0.0, 1 / 14, 1 / 4, 1.0)
"""Bounds of the share of its time that a first step has for the MACs; tiles between two of them
are looked at together."""


class WaitingTime(CostsToGo):
    """Cycles of the last memory's steps, at least, where one port feeds them.

    A tensor that stays over the innermost loop comes in the first of its steps, which takes as long
    as the port needs for it; all others take what their MACs take. So the time of all MACs grows by
    what the port needs for the tensor, less the MACs' time in first steps.

    Args:
        costs: Cycles of the port by element.
        like: Tables of the same spread.
    """

    def __init__(self, costs: MoveCosts, like: CostsToGo) -> None:
        none = MoveCosts(
            [[0.0] * 3 for _ in costs.reads],
            [[0.0] * 3 for _ in costs.reads],
            [0.0] * 3,
            dict.fromkeys(costs.add, 0.0),
            dict.fromkeys(costs.once, 0.0),
        )
        super().__init__(like.spread, like.tiles, like.redundant, none, like)
        self._weighed = costs.reads[-1]
        self._taken = [self._tensor_over(place) for place in range(len(self.dims))]

    def _tensor_over(self, place: int) -> int | None:
        """The tensor that takes the port longest of those that stay over a loop."""
        d = self.dims[place]
        stays = [t for t in range(3) if self._weighed[t] and d not in self.facts.relevant[t]]
        return max(stays, key=self._cycles, default=None)

    def is_empty(self) -> bool:
        """Whether the port feeds the last memory nothing that stays."""
        return self.facts.depth < 2 or all(t is None for t in self._taken)

    def _cycles(self, tensor: int) -> float:
        """Cycles that the port needs for all of a tensor once."""
        return self._weighed[tensor] * float(self.spread.whole(tensor)) * self._least(tensor)

    def _least(self, tensor: int) -> float:
        """Rows times columns of the input, each once; 1 of other tensors."""
        keeper = self.facts.keeper(tensor, self.facts.depth)
        if tensor != INPUT:
            return 1.0
        found = 1.0
        for window, (d, _) in enumerate(WINDOWS):
            found *= self._once(keeper, window, self.spread.extents[d])
        return found

    def _level(self, m: int) -> None:
        if m < self.facts.depth:
            super()._level(m)
            return
        self._reach = [self.reach(m, place) for place in range(len(self.dims))]
        every = list(range(len(self.dims)))
        base = self.fits(m) + self.mac_turns() * self._cycles_a_turn()
        found: list[RestCosts] = []
        if None in self._taken:
            found.append(RestCosts(NOTHING, NOTHING, self._inner(base, every)))
        for tensor in dict.fromkeys(t for t in self._taken if t is not None):
            share = self._share_of_macs(tensor)
            weighed = self._weighed[tensor] * self.spread.still(tensor, 0)
            for low, high in zip(SHARES[:-1], SHARES[1:], strict=True):
                some = np.where((share > low) & (share <= high), base, np.inf)
                each = weighed * (1 - high)
                if high == SHARES[-1]:
                    some, each = np.where(share > low, base, np.inf), 0.0
                found += self._modes_of(m, tensor, some, each, every)
        self.rest[m - 1] = [rest for rest in found if np.isfinite(rest.cost).any()]

    def _modes_of(
        self, m: int, tensor: int, base: Grid, each: float, every: list[int]
    ) -> list[RestCosts]:
        """A tensor's loops run in the memory, or in none; an element takes `each` cycles."""
        free = self._free(tensor)
        reads = tuple(each if t == tensor else 0.0 for t in range(3))
        pending = RestCosts(reads, NOTHING, self._inner(base, free))  # type: ignore[arg-type]
        self._own = list(reads), [0.0] * 3
        whole = float(self.spread.whole(tensor)) * self._least(tensor)
        stays: Any = self._stays(m, tensor) * whole
        return [pending, RestCosts(NOTHING, NOTHING, self._inner(base, every) + stays)]

    def _cycles_a_turn(self) -> float:
        return self.spread.lead_turns() / self.facts.chip.lanes

    def _share_of_macs(self, tensor: int) -> Grid:
        """The share of the port's time that the MACs have work for in a tensor's first steps."""
        depth = self.facts.depth
        turns: Any = self._cycles_a_turn() / self._cycles(tensor)
        for place, d in enumerate(self.dims):
            if d in self.facts.relevant[tensor]:
                each = self.mac_steps(0, place)
            else:
                each = np.ceil(self.tiles.values[place] / self.spread.surely_inside(depth, d))
            turns = turns * self.axis(place, each)
        found: Grid = np.broadcast_to(turns, self.shape)
        return found
