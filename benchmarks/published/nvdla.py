"""NVDLA: cycles of ResNet-50's layers, and images a second, beside its makers' sheet.

The mapping is the one the sheet assumes: the input stays in the buffer while groups of 32 filters
come and go, or the filters stay while rows of the input do, whichever needs less room; a group's
outputs stay in the accumulators, and weights in the cells for a stripe of at most 32 of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import cost_models
import layers
from benchmarks.published.rows import Figures, Row, chain_of, fitting, given
from cost_models import CHAINS, ChainMapping, Entry, Spread
from layers import Layer

CHIP = "nvdla-cacc"
MODEL = cost_models.load("exact", padding="free")
CELLS, LANES, STRIPE = 32, 64, 32
ATOM, SHEET_CELLS, BUFFER_KB = 16, 128, 512
"""The sheet rounds channels up to whole atoms, and filters up to so many at a time."""
WINOGRAD_FILTERS, WINOGRAD_MACS = 16 / 9, 2.25
"""Of 3 x 3 taps: a transformed filter has 4 x 4, and 4 outputs take 16 multiplications, not 36."""
CAUSES = (
    "waits and first tiles",
    "no Winograd",
    "64 x 32 MACs at a time, not 16 x 128",
    "4 taps, not 7 / 2",
    "no residual inputs",
    "stride not folded into channels",
    "no pooling",
    "KB of 1,024 bytes, not 1,000",
)
"""In the order in which they are taken off."""
READ = "NVDLA_OpenSource_Performance.xlsx, sheet ResNet50, at 20 GB/s"
KB = 1024


def rows() -> Iterator[Row]:
    """The layers' cycles, then images a second."""
    figures = given("nvdla")
    sums = [0.0] * (len(CAUSES) + 1)
    for name, row in figures["layers"].items():
        steps = cycles(layer_of(name, row), row, figures["gb_per_s"])
        sums = [before + row["times"] * step for before, step in zip(sums, steps, strict=True)]
        causes = chain_of(*zip(("", *CAUSES), steps, strict=True))
        label = name if row["times"] == 1 else f"{name} x{row['times']}"
        moved = row["input_kb"] * row["input_reads"] + row["filter_kb"]
        moved += row["output_kb"] * (1 + row.get("residual", False))
        published = max(moved / figures["gb_per_s"] * 1000, row["mac_cycles"])
        yield Row(CHIP, label, "cycles", published, steps[0], causes, READ)
    images = [1e6 * (CHAINS[CHIP].clock_mhz or 0) / cycles for cycles in sums]
    causes = chain_of(*zip(("", *CAUSES), images, strict=True))
    primer = "NVDLA primer, table of configurations"
    yield Row(CHIP, "ResNet-50", "images/s", figures["images_per_s"], images[0], causes, primer)


def cycles(layer: Layer, row: Figures, rate: float) -> list[float]:
    """Ours, and then cycles without one cause after another; `rate` in bytes a cycle.

    Raises:
        ValueError: The mapping does not fit.
    """
    cost = fitting(MODEL, layer, CHAINS[CHIP], mapping_of(layer))
    moved = cost.levels["DRAM"].accesses
    inputs, filters = moved["input"]["read"] / KB, moved["filter"]["read"] / KB
    outputs, macs = moved["output"]["write"] / KB, cost.counts["compute_cycles"]
    found = [cost.latency_cycles]
    residual = 0.0

    def add(kb: int = KB) -> None:
        found.append(max((inputs + filters + outputs + residual) * kb / rate, macs))

    add()
    if row["taps"] == 3:
        filters, macs = filters * WINOGRAD_FILTERS, macs / WINOGRAD_MACS
    add()
    channels = rounded(layer.C, ATOM)
    inputs, filters = inputs * channels / layer.C, filters * channels / layer.C
    macs *= channels / rounded(layer.C, LANES)
    macs *= rounded(layer.K, SHEET_CELLS) / rounded(layer.K, CELLS) * CELLS / SHEET_CELLS
    macs *= LANES / ATOM
    add()
    macs *= (row["taps"] / row.get("stride", 1) / layer.R) ** 2 if row["C"] == 3 else 1
    add()
    residual = outputs if row.get("residual") else 0.0
    add()
    if layer.stride > 1:
        inputs, filters = folded(layer, row["rows"], filters)
    add()
    pooled = (row.get("pooled", layer.out_y) / layer.out_y) ** 2
    outputs, residual = outputs * pooled, residual * pooled
    add()
    add(1000)
    return found


def folded(layer: Layer, rows: int, filters: float) -> tuple[float, float]:
    """Inputs and filters with the stride's pixels as channels [KB].

    All `rows` squared pixels are fetched, and filters have a channel for each. Where filters are
    less than inputs they stay in the buffer, a part at a time beside a row, and the inputs come
    for each part.
    """
    pixels = layer.stride**2
    inputs, filters = layer.C * rows**2 / KB, filters * pixels
    if inputs < filters:
        return inputs, filters
    beside = BUFFER_KB - inputs / math.ceil(rows / layer.stride)
    return inputs * math.ceil(filters / beside), filters


def rounded(n: int, unit: int) -> int:
    """`n` up to whole units."""
    return -(-n // unit) * unit


def layer_of(name: str, row: Figures) -> Layer:
    """The layer as the chip runs it: of images 2 x 2 pixels are folded into the channels."""
    rows, taps, stride = row["rows"], row["taps"], row.get("stride", 1)
    if row["C"] == 3:
        shape = {"C": 12, "Y": 115, "X": 115, "R": 4, "S": 4, "padding": [2, 1, 2, 1]}
        return layers.from_fields(name, "conv", {"K": row["K"], **shape})
    pad = taps // 2
    extent = {"Y": rows + 2 * pad, "X": rows + 2 * pad, "R": taps, "S": taps, "stride": stride}
    return layers.from_fields(
        name, "conv", {"K": row["K"], "C": row["C"], **extent, "padding": [pad] * 4}
    )


def mapping_of(layer: Layer) -> ChainMapping:
    """The mapping, as the module's docstring says."""
    taps = layer.C * layer.R * layer.S
    high, wide = stripe_of(layer)
    window = layer.C * ((high - 1) * layer.stride + layer.R) * layer.X
    inputs_held = layer.C * layer.Y * layer.X + min(CELLS, layer.K) * taps
    filters_held = window + layer.K * taps
    held = {"Y": high} if filters_held < inputs_held else {"K": min(CELLS, layer.K)}
    group = {"K": min(CELLS, layer.K), "Y": high, "X": wide}
    cell = {"K": 1, "C": min(LANES, layer.C), "R": 1, "S": 1}
    return ChainMapping(
        (
            Entry("CBUF", held, "KYXCRS"),
            Entry("CACC", group, "KYXCRS", (Spread("K", CELLS),)),
            Entry("Cell", cell, "KCRSYX", (Spread("C", LANES),), frozenset({"filter"})),
        )
    )


def stripe_of(layer: Layer) -> tuple[int, int]:
    """Rows and columns of outputs in a stripe: as few stripes as there can be."""
    sides = [(y, x) for y, x in product(range(1, STRIPE + 1), repeat=2) if y * x <= STRIPE]
    return min(
        sides, key=lambda s: (math.ceil(layer.out_y / s[0]) * math.ceil(layer.out_x / s[1]), -s[1])
    )
