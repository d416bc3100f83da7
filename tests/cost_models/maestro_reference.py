"""Reading the reference figures of the MAESTRO program, for tests and benchmarks.

``data/maestro_reference_sample.csv`` holds 379 random layers, dataflows and accelerators, each
evaluated once with the program of ``maestro-project/maestro`` (commit 4eb08d1). The environment
variable MAESTRO_REFERENCE names a larger file of the same form.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from cost_models import Accelerator, Cost, Dataflow, parse_dataflow
from cost_models.maestro.binary import DETAIL_COLUMNS, FIGURE_COLUMNS
from layers import Layer, LayerKind

SAMPLE = Path(__file__).parent / "data" / "maestro_reference_sample.csv"

DOUBLES = {
    "energy_nj",
    "throughput_macs_per_cycle",
    "area_um2",
    "power_mw",
    "utilized_pes",
    "arithmetic_intensity",
    "avg_noc_bw",
}
"""Printed with six significant digits; all others are integers."""


def reference_path() -> Path:
    return Path(os.environ.get("MAESTRO_REFERENCE", SAMPLE))


def read_row(row: dict[str, str]) -> tuple[Layer, Accelerator, Dataflow]:
    """One row of the file as this project's objects."""
    extents = {d: int(row[d]) for d in ("K", "C", "Y", "X", "R", "S", "stride")}
    layer = Layer(f"row {row['id']}", LayerKind(row["type"]), **extents)
    accelerator = Accelerator(
        num_pes=int(row["num_pes"]),
        noc_bw=int(row["noc_bw"]),
        offchip_bw=int(row["offchip_bw"]),
        simd_lanes=int(row["simd"]),
    )
    return layer, accelerator, parse_dataflow(row["dataflow"])


def printed(cost: Cost) -> Iterator[tuple[str, str]]:
    """Every figure of a cost under the program's column name, as the program prints it."""
    for name, column in FIGURE_COLUMNS.items():
        yield column, _text(name, getattr(cost, name))
    for name, column in DETAIL_COLUMNS.items():
        yield column, _text(name, cost.detail[name])
    for tensor, kinds in cost.accesses.items():
        for kind, value in kinds.items():
            yield f"{tensor} {kind.replace('_', ' ')}", _text(kind, value)


def _text(name: str, value: float) -> str:
    if name in DOUBLES:
        return "nan" if math.isnan(value) else f"{value:g}"
    return str(int(value))


def differences(cost: Cost, row: dict[str, str]) -> list[str]:
    """Columns in which a cost and a row differ; nan and -nan are one."""
    return [
        f"{column}: {text}, MAESTRO {row[column]}"
        for column, text in printed(cost)
        if text != row[column].replace("-nan", "nan")
    ]
