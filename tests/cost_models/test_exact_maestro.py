"""Where MAESTRO is right, the exact model agrees with it.

At stride 1, with tiles that divide what they tile, whole filters and unlimited bandwidth, MAESTRO's
MACs are the layer's, and its latency is the compute cycles and one cycle for each fill: one an
outer step, and one at the start.
"""

from pathlib import Path

import cost_models
from benchmarks.frame import known
from tests.cost_models.maestro_reference import read_row

ROWS = known(Path(__file__).parent / "data" / "maestro_divisor_rows.csv")
"""All rows of the 8,000 reference rows that meet these conditions."""


def test_macs_and_latency_agree_where_maestro_is_right() -> None:
    exact = cost_models.load("exact")
    for row in ROWS:
        layer, accelerator, dataflow = read_row(row)
        counts = exact.evaluate(layer, accelerator, dataflow).counts
        fills = counts["outer_steps"] + 1 if len(dataflow.levels) == 2 else 1
        assert int(row["Num MACs"]) == counts["macs"], row["id"]
        assert int(row["Runtime (Cycles)"]) == counts["compute_cycles"] + fills, row["id"]
    assert len(ROWS) >= 80
