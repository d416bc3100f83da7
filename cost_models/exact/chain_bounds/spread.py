"""What one way of spreading units over a chain makes of a layer, apart from tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from cost_models.exact.chain_bounds.facts import ChainFacts, Spatial
from cost_models.exact.chain_bounds.pieces import Pieces, Stages, number, of_all, steps
from cost_models.exact.nest import FILTER, INPUT, OUTPUT, P, Q, R, S

WINDOWS = ((P, R), (Q, S))


class MoveCosts(NamedTuple):
    """What elements cost that move, in any unit.

    Args:
        reads: By memory and tensor, one that is read for it (of outputs: written from it).
        fills: One that is written into it (of outputs: that leaves it).
        serve: By tensor, one that MACs read (outputs: write) of the memory that serves them.
        add: By memory that keeps outputs, one that is written there again.
        once: One that leaves it.
    """

    reads: list[list[float]]
    fills: list[list[float]]
    serve: list[float]
    add: dict[int, float]
    once: dict[int, float]


class ChainSpread:
    """A layer on a chip whose units are spread in one way.

    Args:
        facts: The layer and the chip.
        spatial: Units of each fan-out.
        dims: The dimensions that have tiles.
    """

    alone = True
    """Whether it stands for itself alone."""

    def __init__(self, facts: ChainFacts, spatial: Spatial, dims: Sequence[int]) -> None:
        self.facts, self.spatial, self.dims = facts, spatial, tuple(dims)
        self.extents = facts.layer.extents

    def stages(self, gap: int, d: int) -> Stages:
        """Units along a dimension between memory `gap` - 1 and `gap`, by fan-out."""
        return tuple(stage[d] for stage in self.spatial[gap - 1])

    def filled(self, m: int, d: int) -> int:
        """Units along a dimension that the first step of a memory fills, tiles permitting."""
        return self.stages(m, d)[-1]

    def units(self, low: int, high: int, d: int) -> int:
        """Units along a dimension between two memories."""
        return self._units[low, high][d]

    @cached_property
    def _units(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """Units along each dimension, by memories that they lie between."""
        ends = range(len(self.spatial) + 1)
        return {
            (low, high): tuple(
                math.prod(stage[d] for gap in self.spatial[low:high] for stage in gap)
                for d in range(len(self.extents))
            )
            for low in ends for high in ends[low:]
        }  # fmt: skip

    @cached_property
    def instances(self) -> list[int]:
        """How often each memory stands."""
        return [math.prod(self._units[0, m]) for m in range(self.facts.depth + 1)]

    def inside(self, m: int, d: int) -> int:
        """Units along a dimension below an instance of a memory."""
        return self.units(m, len(self.spatial), d)

    def surely_inside(self, m: int, d: int) -> int:
        """Units along a dimension below an instance of a memory that every such spread has."""
        return self.inside(m, d)

    @cached_property
    def _taps(self) -> dict[int, list[tuple[int, Pieces]]]:
        """Tile and pieces by memory of the dimensions that no memory tiles."""
        found = {}
        for d in range(len(self.extents)):
            if d in self.dims:
                continue
            tile = self.extents[d]
            pieces: Pieces = ((tile, 1),)
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
        return math.prod(-(-self.tile(depth, d) // self.inside(depth, d)) for d in self._taps)

    def still(self, tensor: int, m: int) -> int:
        """Instances of a memory along untiled dimensions that a tensor does not depend on."""
        rel = self.facts.relevant[tensor]
        return math.prod(number(self.pieces(m, d)) for d in self._taps if d not in rel)

    def whole(self, tensor: int) -> int:
        """Elements of a tensor, rows and columns of the input apart."""
        return self._whole[tensor]

    @cached_property
    def _whole(self) -> list[int]:
        rows = {P, Q, R, S}
        return [
            math.prod(self.extents[d] for d in rel if t != INPUT or d not in rows)
            for t, rel in enumerate(self.facts.relevant)
        ]

    def rows(self, m: int, window: int, count: Any, length: float) -> Any:
        """Rows that `count` runs of outputs touch, `length` outputs in all, with a memory's taps.

        Each run of each instance along the taps touches them anew.
        """
        d, taps = WINDOWS[window]
        total: Any = 0.0
        for some, times in self.pieces(m, taps):
            more = self.facts.more(d, some)
            total += times * (more * length + (some - more) * count)
        return total

    def mac_reads(self, tensor: int, m: int) -> float:
        """Elements that the MACs read of a memory, in a step of tiled dimensions it is free of."""
        found = float(self.whole(tensor))
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
    def sums(self) -> list[int]:
        """The memories that keep outputs, DRAM first."""
        return [m for m in range(self.facts.depth + 1) if self.facts.keeps[m][OUTPUT]]

    @cached_property
    def energy(self) -> MoveCosts:
        """What elements cost [nJ]."""
        facts, prices = self.facts, self.facts.prices
        reads, fills = [], []
        for m in range(facts.depth + 1):
            kept = [bool(m) and t != OUTPUT and facts.keeps[m][t] for t in range(3)]
            keepers = [facts.keeper(t, m) if kept[t] else 0 for t in range(3)]
            reads.append([prices[keepers[t]].read[t] if kept[t] else 0.0 for t in range(3)])
            fills.append([prices[m].write[t] if kept[t] else 0.0 for t in range(3)])
        add, once = {}, {}
        for place, m in enumerate(self.sums):
            add[m] = prices[m].read.psum + prices[m].write.psum
            if place + 1 < len(self.sums):
                inner = prices[self.sums[place + 1]]
                add[m] += inner.read.psum - inner.read.output + inner.write.psum
            once[m] = prices[m].write.output + prices[m].read.output if m else 0.0
        for keeper, m, price, last in facts.crossings(OUTPUT):
            add[keeper] += price if last else 2 * price  # what is given first is paid for elsewhere
            if last and m <= facts.depth:
                fills[m][OUTPUT] += price
        if facts.residents[OUTPUT]:  # they do not leave the first memory
            add[0], once[1] = 0.0, prices[1].write.output
        serve = [0.0 if t == OUTPUT else prices[facts.innermost[t]].read[t] for t in range(3)]
        return MoveCosts(reads, fills, serve, add, once)

    def port(self, q: int, into: bool, out: bool) -> MoveCosts:
        """Bits through the port of the first instance of a memory, in and out."""
        facts, widths = self.facts, self.facts.chip.widths
        depth = facts.depth
        instances = self.instances[q]
        reads = [[0.0] * 3 for _ in range(depth + 1)]
        serve, add = [0.0] * 3, dict.fromkeys(self.sums, 0.0)
        for t in range(3):
            width = float(widths[t]) if t != OUTPUT or q == 0 else float(widths.psum)
            counted = out if t == OUTPUT else into
            for m in range(q + 1, depth + 1):
                if counted and facts.keeps[m][t] and facts.keeper(t, m) <= q:
                    reads[m][t] = width / instances
            if counted and facts.innermost[t] <= q:
                serve[t] = width / instances
        if into:
            for m, taker in zip(self.sums, [*self.sums[1:], depth + 1], strict=True):
                if m <= q < taker:
                    add[m] = float(widths.psum) / instances
        fills = [[0.0] * 3 for _ in range(depth + 1)]
        return MoveCosts(reads, fills, serve, add, dict.fromkeys(self.sums, 0.0))

    def weights(self, costs: MoveCosts) -> dict[int, tuple[float, float]]:
        """By memory that keeps outputs, what sums there weigh in bounds.

        The first number is the share of `add` that bounds count; the second what an output that
        enters the memory around it from there weighs, with all that depends on it.

        What leaves a memory once lessens what is added there: the share is so small that a count
        never weighs less than nothing.
        """
        rel = self.facts.relevant[OUTPUT]
        found = {0: (1.0, 0.0)}
        outer, share = 0, 1.0
        for m in self.sums[1:]:
            units = math.prod(
                self.units(outer, m, d) for d in range(len(self.extents)) if d not in rel
            )
            own, once = costs.add[m], costs.once[m]
            above = costs.reads[m][OUTPUT] + costs.add[outer] * share
            mine = 1.0 if own <= once else min(1.0, (above / units + once) / own)
            less = mine * own - once
            found[m] = mine, max(above - (units * less if less > 0 else less), 0.0)
            outer, share = m, mine
        return found


TENSORS_IN = (INPUT, FILTER)
