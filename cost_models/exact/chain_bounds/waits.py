"""Time of steps that wait in turns: for a tensor that comes in some of them, and for the MACs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_tables import ALL, NOTHING, Grid, RestCosts
from cost_models.exact.chain_bounds.togo import CostsToGo
from marl_common import FloatArray

SHARES = (0.0, 1 / 14, 1 / 4, 0.6, 1.0)
"""Bounds of the share of its time that a first step has for the MACs; tiles between two of them
are looked at together."""


class WaitingTime(CostsToGo):
    """Cycles of the last memory's steps, at least, where one port feeds them.

    A tensor that stays over the innermost loop comes in the first of its steps, which takes as long
    as the port needs for it; all others take what their MACs take. So the time of all MACs grows by
    what the port needs for the tensor, less the MACs' time in first steps.

    Args:
        weighed: By tensor, cycles of the port by element that comes into the last memory.
        like: Tables of the same spread.
    """

    def __init__(self, weighed: list[float], like: CostsToGo) -> None:
        vars(self).update(vars(like))
        self._count(self.spread.port(0, into=False, out=False))  # nothing else costs anything
        self._weighed = weighed
        self._taken = [self._tensor_over(place) for place in self.places]

    def _tensor_over(self, place: int) -> int | None:
        """The tensor that takes the port longest of those that stay over a loop."""
        stays = [t for t in range(3) if self._weighed[t] and place in self.free[t]]
        return max(stays, key=self._cycles, default=None)

    def is_empty(self) -> bool:
        """Whether the port feeds the last memory nothing that stays."""
        return self.facts.depth < 2 or not any(self._weighed)

    def _cycles(self, tensor: int) -> float:
        """Cycles that the port needs for all of a tensor once."""
        return self._weighed[tensor] * self.elements_once(self.facts.depth, tensor)

    def _all_modes(self, m: int) -> Iterator[RestCosts]:
        if m < self.facts.depth:
            yield from super()._all_modes(m)
            return
        for reads, cost in self._waiting_modes(m):
            yield RestCosts(reads, NOTHING, ALL, cost)

    def _run_shares(self, m: int, place: int) -> FloatArray:
        """The same; outside the last memory 0 for shares below 1: MACs may take more of them."""
        found = super()._run_shares(m, place)
        return found if m == self.facts.depth else np.where(found < 1.0, 0.0, found)

    def _waiting_modes(self, m: int) -> Iterator[tuple[Any, Grid]]:
        """Which loop is innermost, or which tensor stays while none of its own iterates."""
        for place, kept in self._innermost():
            tensor = self._taken[place]
            steps = self._steps(m, [t for t in range(3) if place not in self.free[t]], kept)
            if tensor is None:
                yield NOTHING, self._in_turns(m, place, steps, 0.0, self.places)
                continue
            stays = self._stays(m, tensor) * self.elements_once(m, tensor)
            idle = 1.0 - self._share_of(m, tensor)
            for beside, share in self._shares(tensor):
                found = self._in_turns(m, place, steps, beside, self.places)
                yield NOTHING, found + np.maximum(share - idle, 0.0) * stays
        weighed = [t for t in range(3) if self._weighed[t]]
        for tensor in weighed:
            free, others = self.free[tensor], [t for t in weighed if t != tensor]
            for place in free:
                steps = self._steps(m, others, self._kept(place))
                for beside, share in self._shares(tensor):
                    found = self._in_turns(m, place, steps, beside, free)
                    yield self._only(tensor, share), found
        longest = max(weighed, key=self._cycles)
        turns, _ = self._steps(m, [], None)
        for beside, share in self._shares(longest):
            yield self._only(longest, share), self._inner(turns + beside, [])

    def _steps(self, m: int, moving: list[int], kept: int | None) -> tuple[Grid, Grid]:
        """Cycles of all steps but for what stays: of the MACs, and with what moves in each."""
        self._own = self._weighed, [0.0] * 3
        turns = (self.mac_turns() * self._cycles_a_turn())[self._inside]
        moved: Any = sum(self._counted(m, t, kept) for t in moving)
        fits = self.fits(m)[self._inside]
        return fits + turns, fits + np.maximum(turns, moved)

    def _in_turns(
        self, m: int, place: int, steps: tuple[Grid, Grid], beside: Any, free: list[int]
    ) -> Grid:
        """The least cycles by tile around; where the loop does not run, those of the MACs."""
        turns, both = (self._running(m, place, each + beside, 0.0, free) for each in steps)
        found: Grid = np.maximum(turns, self._least_run_shares(m, place) * both)
        return found

    def _shares(self, tensor: int) -> Iterator[tuple[Grid, float]]:
        """Tiles whose first steps are alike, inf for others, and the share that the port takes."""
        share = self._share_of_macs(tensor)[self._inside]
        for low, high in pairwise(SHARES):
            some = (share > low) & ((share <= high) | (high == SHARES[-1]))
            if some.any():
                yield np.where(some, 0.0, np.inf), 1 - high

    def _only(self, tensor: int, share: float) -> Any:
        return tuple(share * self._weighed[t] if t == tensor else 0.0 for t in range(3))

    def _cycles_a_turn(self) -> float:
        return self.spread.lead_turns() / self.facts.chip.lanes

    def _share_of_macs(self, tensor: int) -> Grid:
        """The share of the port's time that the MACs have work for in a tensor's first steps."""
        depth = self.facts.depth
        turns: Any = self._cycles_a_turn() / self._cycles(tensor)
        for place, d in enumerate(self.dims):
            if place in self.own[tensor]:
                each = self.mac_steps(0, place)
            else:
                each = np.ceil(self.tiles.values[place] / self.spread.surely_inside(depth, d))
            turns = turns * self.axis(place, each)
        found: Grid = np.broadcast_to(turns, self.shape)
        return found
