"""NVDLA's published DRAM traffic and MAC cycles of AlexNet beside the exact model's.

    python -m benchmarks chips_nvdla

`nvdla_alexnet.yaml` has the published figures, and where they are from. The mapping is the one that
they assume: whole groups of filters come to the buffer one after another, the input stays there, a
filter lies in each cell, channels over its lanes, and an output leaves when all of its products are
added. What the chip does that no layer says, and the sheet's own rounding, are taken off in a
column of their own (`plain_of`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import cost_models
import layers
from benchmarks.frame import Row, Summary
from benchmarks.published.nvdla import ATOM, KB, WINOGRAD_FILTERS, WINOGRAD_MACS, rounded
from benchmarks.published.rows import fitting
from cost_models import PRESETS, Accelerator, Cost, Mapping
from layers import Layer

DATA = Path(__file__).with_name("nvdla_alexnet.yaml")
CHIP = PRESETS["nvdla-full"]
MODEL = cost_models.load("exact", padding="free")
TENSORS = ("input", "filter", "output")


class Compared(NamedTuple):
    """A layer: KB of an image over the DRAM boundary by tensor, and the MACs' cycles.

    Args:
        name: The layer's name.
        times: How often it runs.
        ours: The exact model's figures.
        published: NVDLA's.
        plain: NVDLA's without Winograd, with outputs before pooling, of whole lanes and cells;
            what is left to explain is `ours` beside these.
    """

    name: str
    times: int
    ours: dict[str, float]
    published: dict[str, float]
    plain: dict[str, float]


def mapping_of(layer: Layer, chip: Accelerator = CHIP) -> Mapping:
    """Whole groups of filters in the buffer beside all of the input; outputs stay in the cells."""
    cells, lanes = chip.num_pes, chip.simd_lanes
    rows, columns = layer.out_y, layer.out_x
    whole = {"C": layer.C, "Y": rows, "X": columns, "R": layer.R, "S": layer.S}
    room = (chip.l2_bytes or 0) - layer.C * layer.Y * layer.X
    filters = room // (layer.C * layer.R * layer.S) // cells * cells
    outer = {"K": min(filters, layer.K), **whole}
    inner = {"K": 1, "C": min(lanes, layer.C), "Y": 1, "X": 1, "R": 1, "S": 1}
    return Mapping(
        ("KYXCRS", "KYXRSC"), ("K", "K"), (outer, inner), cells, bypass=({"output"}, frozenset())
    )


def counted(cost: Cost, batch: int) -> dict[str, float]:
    """The figures of an image by the exact model."""
    counts = cost.counts
    moved = (counts["dram_in"], counts["dram_fil"], counts["dram_out_w"] + counts["dram_out_r"])
    found = {name: n / KB / batch for name, n in zip(TENSORS, moved, strict=True)}
    return found | {"cycles": counts["compute_cycles"] / batch}


def published_of(row: Row) -> dict[str, float]:
    """NVDLA's figures of an image."""
    batch = row.get("batch", 1)
    found = {name: row[f"{name}_kb"] for name in TENSORS} | {"cycles": row["mac_cycles"]}
    return found | {"filter": found["filter"] / batch}


def plain_of(layer: Layer, row: Row) -> dict[str, float]:
    """NVDLA's figures of an image without what the chip does besides the layer's arithmetic."""
    found, batch = published_of(row), row.get("batch", 1)
    channels, filters = rounded(layer.C, ATOM), rounded(layer.K * batch, ATOM) / batch
    if row.get("winograd"):
        found["filter"] /= WINOGRAD_FILTERS
        found["cycles"] *= WINOGRAD_MACS
    if "pooled" in row:
        found["output"] *= layer.out_y * layer.out_x / row["pooled"] ** 2
    found["output"] *= layer.K / rounded(layer.K, ATOM)
    found["cycles"] *= rounded(layer.C, CHIP.simd_lanes) / channels
    found["cycles"] *= rounded(layer.K, CHIP.num_pes) / filters
    return found


def compare(path: Path = DATA) -> Iterator[Compared]:
    """Our figures beside the published ones.

    Raises:
        ValueError: The published figures contradict themselves, or no mapping fits.
    """
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, row in given["published"].items():
        fields = dict(given["layers"][name])
        layer = layers.from_fields(name, fields.pop("kind"), fields)
        theirs = published_of(row)
        if sum(theirs[name] for name in TENSORS) != row["dram_kb"]:
            raise ValueError(f"{path}: {layer.name}: dram_kb is not the sum of its tensors")
        cost = fitting(MODEL, layer, CHIP, mapping_of(layer))
        ours = counted(cost, row.get("batch", 1))
        yield Compared(layer.name, row.get("groups", 1), ours, theirs, plain_of(layer, row))


def rows(_: Any) -> list[Row]:
    """A row a layer and figure: ours, NVDLA's, and NVDLA's without what no layer says."""
    return [
        {"layer": found.name, "times": found.times, "figure": name}
        | {of: getattr(found, of)[name] for of in ("ours", "published", "plain")}
        for found in compare()
        for name in (*TENSORS, "cycles")
    ]


TABLE = Summary(__doc__, rows)
