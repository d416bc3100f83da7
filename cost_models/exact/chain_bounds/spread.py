"""What one way of spreading units over a chain makes of a layer, apart from tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from cost_models.exact.chain_bounds.facts import ChainFacts, Spatial
from cost_models.exact.chain_bounds.pieces import Pieces, Stages, number, of_all, steps
from cost_models.exact.nest import FILTER, INPUT, OUTPUT, P, Q, R, S

WINDOWS = ((P, R), (Q, S))


class Spread:
    """A layer on a chip whose units are spread in one way.

    Args:
        facts: The layer and the chip.
        spatial: Units of each fan-out.
        dims: The dimensions that have tiles.
    """

    def __init__(self, facts: ChainFacts, spatial: Spatial, dims: Sequence[int]) -> None:
        self.facts, self.spatial, self.dims = facts, spatial, tuple(dims)
        self.extents = facts.layer.extents
        self.free = [[d for d in self.dims if d not in rel] for rel in facts.relevant]
        """Tiled dimensions that each tensor does not depend on."""

    def stages(self, gap: int, d: int) -> Stages:
        """Units along a dimension between memory `gap` - 1 and `gap`, by fan-out."""
        return tuple(stage[d] for stage in self.spatial[gap - 1])

    def units(self, low: int, high: int, d: int) -> int:
        """Units along a dimension between two memories."""
        return math.prod(
            stage[d] for gap in self.spatial[low:high] for stage in gap
        )

    def inside(self, m: int, d: int) -> int:
        """Units along a dimension below an instance of a memory."""
        return self.units(m, len(self.spatial), d)

    @cached_property
    def _taps(self) -> dict[int, list[tuple[int, Pieces]]]:
        """Tile and pieces by memory of the dimensions that no memory tiles."""
        found = {}
        for d in range(len(self.extents)):
            if d in self.dims:
                continue
            tile, pieces = self.extents[d], ((self.extents[d], 1),)
            rows: list[tuple[int, Pieces]] = [(tile, pieces)]
            for m in range(1, self.facts.depth + 1):
                inner = tile
                for units in self.stages(m, d):
                    inner = -(-inner // units)
                pieces = of_all(pieces, tile, self.stages(m, d), inner)
                tile = inner
                rows.append((tile, pieces))
            found[d] = rows
        return found

    def tile(self, m: int, d: int) -> int:
        """The tile in a memory of a dimension that none tiles."""
        return self._taps[d][m][0]

    def pieces(self, m: int, d: int) -> Pieces:
        """Its pieces, of all instances."""
        return self._taps[d][m][1]

    def lead_turns(self) -> int:
        """MAC steps along the dimensions that no memory tiles."""
        depth = self.facts.depth
        return math.prod(
            -(-self.tile(depth, d) // self.inside(depth, d)) for d in self._taps
        )

    def still(self, tensor: int, m: int) -> int:
        """Instances of a memory along untiled dimensions that a tensor does not depend on."""
        rel = self.facts.relevant[tensor]
        return math.prod(number(self.pieces(m, d)) for d in self._taps if d not in rel)

    def whole(self, tensor: int) -> int:
        """Elements of a tensor, rows and columns of the input apart."""
        apart = (P, Q, R, S) if tensor == INPUT else ()
        return math.prod(self.extents[d] for d in self.facts.relevant[tensor] if d not in apart)

    def rows(self, m: int, window: int, count: float, length: float) -> float:
        """Rows that `count` runs of outputs touch, `length` outputs in all, with a memory's taps.

        Each run of each instance along the taps touches them anew.
        """
        d, taps = WINDOWS[window]
        total = 0.0
        for some, times in self.pieces(m, taps):
            more = self.facts.more(d, some)
            total += times * (more * length + (some - more) * count)
        return total

    def mac_reads(self, tensor: int, m: int, turns: float) -> float:
        """Elements that the MACs read of a memory.

        Args:
            tensor: The tensor.
            m: The memory that serves it.
            turns: MAC steps of all instances along tiled dimensions that it does not depend on.
        """
        found = float(self.whole(tensor)) * turns
        rel = self.facts.relevant[tensor]
        for d in self._taps:
            if d not in rel:
                found *= steps(self.pieces(m, d), self.inside(m, d))
        if tensor == INPUT:
            for d, taps in WINDOWS:
                found *= self.extents[d] * self.extents[taps] * self._window_share(m, d, taps)
        return found

    def _window_share(self, m: int, d: int, taps: int) -> float:
        """The least share of MACs of a step that read rows of their own."""
        outputs = min(self.inside(m, d), self.extents[d])
        some = min(self.inside(m, taps), self.extents[taps])
        return min(1.0, (some + outputs - 1) / (outputs * some))

    @cached_property
    def sums(self) -> list[tuple[int, float, float]]:
        """By memory that keeps outputs, DRAM first: what a write that adds costs there and where it
        comes from, and what an element costs that is written there and leaves once."""
        prices = self.facts.prices
        keepers = [m for m in range(self.facts.depth + 1) if self.facts.keeps[m][OUTPUT]]
        found = []
        for place, m in enumerate(keepers):
            add = prices[m].read.psum + prices[m].write.psum
            if place + 1 < len(keepers):
                inner = prices[keepers[place + 1]]
                add += inner.read.psum - inner.read.output + inner.write.psum
            found.append((m, add, prices[m].write.output + prices[m].read.output))
        return found

    @cached_property
    def weights(self) -> dict[int, tuple[float, float]]:
        """By memory that keeps outputs, the share of `sums` that bounds count, and what a write into
        the memory around it weighs at least when all that depends on it is summed up."""
        rel = self.facts.relevant[OUTPUT]
        found = {0: (1.0, 0.0)}
        outer, add, share = 0, self.sums[0][1], 1.0
        for m, own, once in self.sums[1:]:
            units = math.prod(
                self.units(outer, m, d) for d in range(len(self.extents)) if d not in rel
            )
            if own <= once:
                mine, weight = 1.0, add * share + once - own
            else:
                mine = min(1.0, (add * share / units + once) / own)
                less = mine * own - once
                weight = add * share - (units * less if less > 0 else less)
            found[m] = mine, max(weight, 0.0)
            outer, add, share = m, own, mine
        return found


TENSORS_IN = (INPUT, FILTER)
