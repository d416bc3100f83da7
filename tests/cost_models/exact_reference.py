"""Reading the reference figures of the exact model, for tests.

``data/exact_reference_sample.csv`` holds 500 small mappings that were executed element by element.
The environment variable EXACT_REFERENCE names a larger file of the same form.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from cost_models import Accelerator, Mapping
from layers import Layer, LayerKind

SAMPLE = Path(__file__).parent / "data" / "exact_reference_sample.csv"
UNLIMITED = 1 << 30
LETTERS = {"P": "Y", "Q": "X"}


@dataclass(frozen=True)
class Row:
    layer: Layer
    accelerator: Accelerator
    mapping: Mapping
    slide: bool
    text: dict[str, str]


def reference_path() -> Path:
    return Path(os.environ.get("EXACT_REFERENCE", SAMPLE))


def _letters(text: str) -> str:
    return "".join(LETTERS.get(d, d) for d in text)


def _bandwidth(text: str) -> int | None:
    return None if int(text) == UNLIMITED else int(text)


def _tiles(row: dict[str, str], level: str) -> dict[str, int]:
    return {LETTERS.get(d, d): int(row[f"{level}_{d}"]) for d in "KCPQRS"}


def read_row(row: dict[str, str]) -> Row:
    """One row of the file as this project's objects."""
    K, C, P, Q, R, S, stride = (int(row[d]) for d in ("K", "C", "P", "Q", "R", "S", "stride"))
    kind = LayerKind.DSCONV if row["depthwise"] == "1" else LayerKind.CONV
    Y, X = (P - 1) * stride + R, (Q - 1) * stride + S
    layer = Layer(f"row {row['id']}", kind, K=K, C=C, Y=Y, X=X, R=R, S=S, stride=stride)
    size = int(row["cluster_size"])
    accelerator = Accelerator(
        num_pes=int(row["clusters"]) * size,
        noc_bw=_bandwidth(row["noc_bw"]),
        offchip_bw=_bandwidth(row["offchip_bw"]),
        simd_lanes=int(row["simd"]),
    )
    mapping = Mapping(
        orders=(_letters(row["order1"]), _letters(row["order0"])),
        parallel=(_letters(row["sp1"]), _letters(row["sp0"])),
        tiles=(_tiles(row, "T1"), _tiles(row, "T0")),
        cluster_size=size,
    )
    return Row(layer, accelerator, mapping, row["slide"] == "1", row)


def read_reference(path: Path | None = None) -> list[Row]:
    """All rows of a file, by default that of `reference_path`."""
    with open(path or reference_path(), newline="", encoding="utf-8") as file:
        return [read_row(row) for row in csv.DictReader(file)]
