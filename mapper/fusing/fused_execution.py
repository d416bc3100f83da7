"""Fused tiles executed element by element: what is computed, and what a tensor needs of L2."""

from __future__ import annotations

from collections import Counter
from itertools import product

from layers import LayerKind
from mapper.fusing.fused_group import FusedGroup, FusedTiling

Element = tuple[int, int]
"""Row and column; of products, row and number of the product."""


class FusedExecution:
    """One tile after another: each layer computes what the next one needs and L2 lacks.

    Args:
        group: The group.
        tiling: How it is cut.

    Attributes:
        work: Of each layer, the rows and columns of outputs of each part, its keys (0: all), and
            how often it occurs.
        touched: Of each tensor, the most elements held while it is written or read.
        between: Of each tensor, the most elements held meanwhile.
    """

    def __init__(self, group: FusedGroup, tiling: FusedTiling) -> None:
        self.group, self.keeps = group, (tiling.rows.keep, tiling.columns.keep)
        places, extent = range(len(group.layers)), group.layers[0].K
        starts = range(0, extent, tiling.keys) if tiling.keys else ()
        self.keys = [min(tiling.keys, extent - first) for first in starts] or [0]
        self.work: list[Counter[tuple[int, int, int]]] = [Counter() for _ in places]
        self.touched, self.between = [0 for _ in places], [0 for _ in places]
        self.reads: list[dict[Element, set[Element]]] = [{} for _ in places]
        self.made: list[dict[Element, set[Element]]] = [{} for _ in places]
        self.ends = (group.rows[-1].outputs, group.columns[-1].outputs)
        self.tiles = list(
            product(
                range(0, self.ends[0], tiling.rows.tile),
                range(0, self.ends[1], tiling.columns.tile),
            )
        )
        self.size = (tiling.rows.tile, tiling.columns.tile)
        self._plan()
        for tensor in range(len(group.layers) - 1):
            self._hold(tensor)

    def _plan(self) -> None:
        """What each layer computes and reads in each tile."""
        latest: list[dict[Element, Element]] = [{} for _ in self.group.layers]
        for tile in self.tiles:
            ends = [min(a + n, m) for a, n, m in zip(tile, self.size, self.ends, strict=True)]
            wanted = set(product(range(tile[0], ends[0]), range(tile[1], ends[1])))
            for place in range(len(self.group.layers) - 1, -1, -1):
                if place < len(self.group.layers) - 1:
                    wanted = {at for at in wanted if not self._kept(latest[place].get(at), tile)}
                if not wanted:
                    break
                latest[place].update(dict.fromkeys(wanted, tile))
                self.made[place][tile] = wanted
                rows, columns = ({at[axis] for at in wanted} for axis in (0, 1))
                assert len(rows) * len(columns) == len(wanted)
                for keys in self.keys:
                    self.work[place][len(rows), len(columns), keys] += 1
                wanted = self._inputs(place, rows, columns)
                self.reads[place][tile] = wanted

    def _kept(self, made: Element | None, tile: Element) -> bool:
        """Whether what a tile made first is still held: by one in an earlier row, or in this."""
        return made is not None and self.keeps[0 if made[0] < tile[0] else 1]

    def _inputs(self, place: int, rows: set[int], columns: set[int]) -> set[Element]:
        """What some outputs need of the tensor before, all between its first and last row."""
        spans = []
        for wanted, along in ((rows, self.group.rows[place]), (columns, self.group.columns[place])):
            taps = [
                along.stride * at + tap - along.before
                for at in wanted
                for tap in range(along.reach)
            ]
            spans.append([n for n in range(min(taps), max(taps) + 1) if 0 <= n < along.inputs])
        return set(product(spans[0], spans[1]))

    def _hold(self, tensor: int) -> None:
        """How much of a tensor is held: what is read, and what later tiles read and do not make."""
        reads, made = self.reads[tensor + 1], self.made[tensor]
        latest: dict[Element, int] = {}
        held: list[set[Element]] = [set() for _ in self.tiles]
        for number, tile in enumerate(self.tiles):
            latest.update(dict.fromkeys(made.get(tile, ()), number))
            for at in reads.get(tile, ()):
                for before in range(latest[at], number):
                    held[before].add(at)
        touched = (held[n] | reads.get(tile, set()) for n, tile in enumerate(self.tiles))
        self.touched[tensor] = max(len(one) for one in touched)
        self.between[tensor] = max(len(one) for one in held)


def differences(group: FusedGroup, tiling: FusedTiling) -> list[str]:
    """Where the plan of a tiling is not what its execution does; empty where it is."""
    run = FusedExecution(group, tiling)
    found = []
    for place in range(len(group.layers)):
        planned: Counter[tuple[int, int, int]] = Counter()
        for layer, count in tiling.parts(group, place):
            across = layer.N if layer.kind is LayerKind.GEMM else layer.out_x
            keys = (layer.C if place else layer.K) if tiling.keys else 0
            planned[layer.out_y, across, keys] += count
        if planned != run.work[place]:
            found.append(f"layer {place}: planned {planned}, executed {run.work[place]}")
    for tensor in range(len(group.layers) - 1):
        touched, between = (
            bits // group.bits[tensor]
            for bits in group.window_bits(tensor, tiling.rows, tiling.columns)
        )
        if run.touched[tensor] > touched or run.between[tensor] > between:
            found.append(
                f"tensor {tensor}: room for {touched} and {between}, held "
                f"{run.touched[tensor]} and {run.between[tensor]}"
            )
    return found
