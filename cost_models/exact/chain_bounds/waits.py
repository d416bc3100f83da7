"""Time of steps that wait in turns: for a tensor that comes in some of them, and for the MACs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import NOTHING, Grid, RestCosts
from cost_models.exact.chain_bounds.spread import WINDOWS, MoveCosts
from cost_models.exact.chain_bounds.togo import CostsToGo
from cost_models.exact.nest import INPUT

SHARES = (0.0, 1 / 14, 1 / 4, 0.6, 1.0)
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
        return self.facts.depth < 2 or not any(self._weighed)

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
            found *= self.once(keeper, window, self.spread.extents[d])
        return found

    def _level(self, m: int) -> None:
        if m < self.facts.depth:
            super()._level(m)
            return
        self._look_at(m)
        found: dict[Any, Grid] = {}
        for reads, cost in self._waiting_modes(m):
            found[reads] = np.minimum(found[reads], cost) if reads in found else cost
        placed = {reads: self._placed(m - 1, cost) for reads, cost in found.items()}
        self.rest[m - 1] = [RestCosts(reads, NOTHING, cost) for reads, cost in placed.items()]

    def _waiting_modes(self, m: int) -> Iterator[tuple[Any, Grid]]:
        """Which loop is innermost, or which tensor stays while none of its own iterates."""
        every = list(range(len(self.dims)))
        for place, kept in self._innermost():
            base = self._base(m, [t for t in range(3) if place not in self._free(t)], kept)
            tensor = self._taken[place]
            if tensor is None:
                yield NOTHING, self._inner(base, every)
                continue
            stays = self._stays(m, tensor) * float(self.spread.whole(tensor)) * self._least(tensor)
            for some, share in self._shares(tensor, base):
                yield NOTHING, self._inner(some, every) + share * stays
        weighed = [t for t in range(3) if self._weighed[t]]
        for tensor in weighed:
            free, others = self._free(tensor), [t for t in weighed if t != tensor]
            own: list[int | None] = [d for d in self.halos() if self.dims.index(d) in free]
            for kept in own if own and tensor != INPUT else [None]:
                for some, share in self._shares(tensor, self._base(m, others, kept)):
                    yield self._only(tensor, share), self._inner(some, free)
        longest = max(weighed, key=self._cycles)
        for some, share in self._shares(longest, self._base(m, [], None)):
            yield self._only(longest, share), self._inner(some, [])

    def _base(self, m: int, moving: list[int], kept: int | None) -> Grid:
        """Cycles of all steps but for what stays: of the MACs, or of what moves in each."""
        self._own = self._weighed, [0.0] * 3
        turns = self.mac_turns() * self._cycles_a_turn()
        moved: Any = sum(self._counted(m, t, kept) for t in moving)
        return self.fits(m)[self._inside] + np.maximum(turns[self._inside], moved)

    def _shares(self, tensor: int, base: Grid) -> Iterator[tuple[Grid, float]]:
        """Tiles whose first steps are alike, and the share of them that counts for the port."""
        share = self._share_of_macs(tensor)[self._inside]
        for low, high in pairwise(SHARES):
            some = (share > low) & ((share <= high) | (high == SHARES[-1]))
            if some.any():
                yield np.where(some, base, np.inf), 1 - high

    def _only(self, tensor: int, share: float) -> Any:
        return tuple(share * self._weighed[t] if t == tensor else 0.0 for t in range(3))

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
