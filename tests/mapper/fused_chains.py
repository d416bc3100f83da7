"""Random chains of convolutions, and tilings of them."""

import numpy as np

from cost_models import load_chip
from layers import Layer, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of


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
