"""Fused tiles executed element by element: what is computed, and what a tensor needs of L2."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from cost_models import load_chip
from layers import Layer, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of

Element = tuple[int, int]


def random_chain(rng: np.random.Generator) -> NetworkGraph:
    """2 to 4 convolutions in a row, with taps, strides, dilation and padding of their own."""
    graph = GraphBuilder()
    rows, columns = (int(n) for n in rng.integers(3, 14, 2))
    at = graph.source("x", (1, 1, rows, columns))
    for number in range(int(rng.integers(2, 5))):
        taps = [int(rng.integers(1, min(n, 3) + 1)) for n in (rows, columns)]
        spread = [int(rng.integers(1, 3)) if 2 * (t - 1) < n else 1
                  for t, n in zip(taps, (rows, columns), strict=True)]  # fmt: skip
        reach = [d * (t - 1) + 1 for t, d in zip(taps, spread, strict=True)]
        pads = [int(n) for n in rng.integers(0, 2, 4)] if rng.random() < 0.7 else [0] * 4
        pads = [min(pad, reach[side // 2] - 1) for side, pad in enumerate(pads)]
        layer = Layer(
            f"l{number}", "CONV", 1, 1, rows + pads[0] + pads[1], columns + pads[2] + pads[3],
            *taps, stride=(int(rng.integers(1, 3)), int(rng.integers(1, 3))),
            dilation=(spread[0], spread[1]), padding=(pads[0], pads[1], pads[2], pads[3]),
        )  # fmt: skip
        at = graph.mac(layer, at)
        rows, columns = layer.out_y, layer.out_x
    return graph.graph()


def random_tiling(rng: np.random.Generator) -> tuple[FusedGroup, FusedTiling]:
    """A tiling of all layers of a random chain."""
    while True:
        graph = random_chain(rng)
        groups = groups_of(graph, load_chip("edge"))
        whole = [one for one in groups.get(0, ()) if len(one.layers) == len(graph.nodes)]
        if whole:
            rows, columns = whole[0].row_plans, whole[0].column_plans
            tiling = FusedTiling(
                rows[rng.integers(len(rows))], columns[rng.integers(len(columns))], frozenset()
            )
            return whole[0], tiling


class FusedExecution:
    """One tile after another: each layer computes what the next one needs and L2 lacks.

    Args:
        group: The group.
        tiling: How it is cut.

    Attributes:
        work: Of each layer, the rows and columns of outputs of each part, and how often it occurs.
        touched: Of each tensor, the most elements held while it is written or read.
        between: Of each tensor, the most elements held meanwhile.
    """

    def __init__(self, group: FusedGroup, tiling: FusedTiling) -> None:
        self.group, self.keeps = group, (tiling.rows.keep, tiling.columns.keep)
        places = range(len(group.layers))
        self.work: list[Counter[Element]] = [Counter() for _ in places]
        self.touched, self.between = [0 for _ in places], [0 for _ in places]
        self.reads: list[dict[Element, set[Element]]] = [{} for _ in places]
        self.made: list[dict[Element, set[Element]]] = [{} for _ in places]
        last = group.layers[-1]
        self.tiles = list(
            product(
                range(0, last.out_y, tiling.rows.tile), range(0, last.out_x, tiling.columns.tile)
            )
        )
        self.size = (tiling.rows.tile, tiling.columns.tile)
        self._plan()
        for tensor in range(len(group.layers) - 1):
            self._hold(tensor)

    def _plan(self) -> None:
        """What each layer computes and reads in each tile."""
        last = self.group.layers[-1]
        latest: list[dict[Element, Element]] = [{} for _ in self.group.layers]
        for tile in self.tiles:
            ends = [min(a + n, m) for a, n, m in
                    zip(tile, self.size, (last.out_y, last.out_x), strict=True)]  # fmt: skip
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
                self.work[place][len(rows), len(columns)] += 1
                wanted = self._inputs(place, rows, columns)
                self.reads[place][tile] = wanted

    def _kept(self, made: Element | None, tile: Element) -> bool:
        """Whether what a tile made first is still held: by one in an earlier row, or in this."""
        return made is not None and self.keeps[0 if made[0] < tile[0] else 1]

    def _inputs(self, place: int, rows: set[int], columns: set[int]) -> set[Element]:
        """What some outputs need of the tensor before, all between its first and last row."""
        layer = self.group.layers[place]
        spans = []
        for wanted, stride, reach, low, extent in (
            (rows, layer.stride_y, layer.reach_y, self.group.rows[place].before,
             self.group.rows[place].inputs),
            (columns, layer.stride_x, layer.reach_x, self.group.columns[place].before,
             self.group.columns[place].inputs),
        ):  # fmt: skip
            taps = [stride * at + tap - low for at in wanted for tap in range(reach)]
            spans.append([n for n in range(min(taps), max(taps) + 1) if 0 <= n < extent])
        return set(product(*spans))

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
        planned: Counter[Element] = Counter()
        for layer, count in tiling.parts(group, place):
            planned[layer.out_y, layer.out_x] += count
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
