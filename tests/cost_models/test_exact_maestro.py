"""Where MAESTRO is right, the exact model agrees with it.

At stride 1, with tiles that divide what they tile, whole filters and unlimited bandwidth, MAESTRO's
MACs are the layer's, and its latency is the compute cycles and one cycle for each fill: one an
outer step, and one at the start.
"""

import os
from pathlib import Path

import cost_models
from cost_models import Accelerator, Dataflow, InfeasibleError, Mapping
from cost_models.dataflow import dimensions, size_of
from cost_models.lowering import language_kind
from layers import DIMS, Layer
from tests.cost_models.maestro_reference import read_row, read_rows

UNLIMITED = "1073741824"
ROWS = Path(__file__).parent / "data" / "maestro_divisor_rows.csv"
"""All rows of the 8,000 reference rows that meet these conditions (`divides`); a larger file can be
given by the environment variable MAESTRO_REFERENCE."""


def divides(layer: Layer, dataflow: Dataflow, mapping: Mapping, num_pes: int) -> bool:
    """Whether every tile, as written, divides what it tiles; Y and X also over clusters and PEs."""
    if clipped(layer, dataflow, mapping):
        return False
    clusters = num_pes // mapping.cluster_size
    if clusters == 0:
        return False
    for d, n in zip(DIMS, layer.extents, strict=True):
        outer, inner = mapping.tiles[0][d], mapping.tiles[1][d]
        if n % outer or outer % inner:
            return False
        width = outer * clusters if mapping.parallel[0] == d else outer
        step = inner * mapping.cluster_size if mapping.parallel[1] == d else inner
        if d in "YX" and ((width < n and n % width) or (step < outer and outer % step)):
            return False
    return mapping.tiles[1]["R"] == layer.R and mapping.tiles[1]["S"] == layer.S


def clipped(layer: Layer, dataflow: Dataflow, mapping: Mapping) -> bool:
    """Whether a tile is written larger than the extent it tiles."""
    sizes = dimensions(layer, language_kind(layer, dataflow))
    extents = dict(zip(DIMS, layer.extents, strict=True))
    for level in dataflow.levels:
        for directive in level:
            if directive.dim.endswith("'"):
                size = size_of(directive.size, sizes)
                if size > extents[directive.dim[0]]:
                    return True
    return False


def candidates() -> list[tuple[dict[str, str], Layer, Accelerator, Dataflow]]:
    rows = []
    for row in read_rows(Path(os.environ.get("MAESTRO_REFERENCE", ROWS))):
        free = row["noc_bw"] == row["offchip_bw"] == UNLIMITED
        if row["status"] == "ok" and row["stride"] == "1" and free:
            rows.append((row, *read_row(row)))
    return rows


def test_macs_and_latency_agree_where_maestro_is_right() -> None:
    exact = cost_models.load("exact")
    tried = 0
    for row, layer, accelerator, dataflow in candidates():
        try:
            mapping = Mapping.from_dataflow(dataflow, layer)
        except InfeasibleError:
            continue
        if not divides(layer, dataflow, mapping, accelerator.num_pes):
            continue
        counts = exact.evaluate(layer, accelerator, dataflow).counts
        fills = counts["outer_steps"] + 1 if len(dataflow.levels) == 2 else 1
        assert int(row["Num MACs"]) == counts["macs"], row["id"]
        assert int(row["Runtime (Cycles)"]) == counts["compute_cycles"] + fills, row["id"]
        tried += 1
    assert tried >= 80
