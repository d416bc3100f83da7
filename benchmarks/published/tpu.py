"""TPU v1: peak, ridge point, and operations a second of five of its makers' six applications.

The mapping is the chip's: a tile of 256 x 256 weights stands in the array while as many rows of
inputs pass as the accumulators hold, and channels and taps before the next 256 outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import cost_models
import layers
from benchmarks.published.rows import Figures, Row, chain_of, fitting, given
from cost_models import CHAINS, ChainMapping, Entry, Spread
from layers import Layer

CHIP = "tpu-v1-ws"
MODEL = cost_models.load("exact", padding="free")
SIDE, ROWS = 256, 2048
"""Of the array; and of accumulators for it, in each of their two halves."""
CAUSES = ("waits and first tiles", "activations from weight memory", "no whole tiles of weights")
"""In the order in which they are taken off."""
OUTSIDE = "time outside of layers of 18 us"
"""Between two figures of the paper: operations of a layer over its time, and those measured."""


def rows() -> Iterator[Row]:
    """Peak and ridge, then the applications."""
    figures, chip = given("tpu"), CHAINS[CHIP]
    peak = 2 * chip.peak_macs_per_cycle * per_second() / 1e12
    yield Row(CHIP, "chip", "peak [TOPS]", figures["peak_tops"], peak, {}, "ISCA 2017, abstract")
    ridge = chip.peak_macs_per_cycle / bytes_per_cycle()
    yield Row(CHIP, "chip", "ridge [MACs/B]", figures["ridge"], ridge, {}, "ISCA 2017, figure 5")
    for name, app in figures["applications"].items():
        yield from application(layer_of(name, app), app)


def application(layer: Layer, app: Figures) -> Iterator[Row]:
    """Its operations a second, and the time of a layer where that is published."""
    steps = cycles(layer)
    tops = [2 * layer.macs * per_second() / found / 1e12 for found in steps]
    causes = chain_of(*zip(("", *CAUSES), tops, strict=True))
    if "layer_us" in app:
        causes[OUTSIDE] = 2 * layer.macs / app["layer_us"] / 1e6 / app["tops"]
    yield Row(CHIP, layer.name, "TOPS", app["tops"], tops[0], causes, "ISCA 2017, table 3")
    if "layer_us" in app:
        times = [found / per_second() * 1e6 for found in steps]
        causes = chain_of(*zip(("", *CAUSES), times, strict=True))
        read = "ISCA 2017, section 7"
        yield Row(CHIP, layer.name, "a layer [us]", app["layer_us"], times[0], causes, read)


def cycles(layer: Layer) -> list[float]:
    """Ours, and then cycles without one cause after another.

    Raises:
        ValueError: The mapping does not fit.
    """
    cost = fitting(MODEL, layer, CHAINS[CHIP], mapping_of(layer))
    moved = cost.levels["DRAM"].accesses
    inputs, filters = moved["input"]["read"], moved["filter"]["read"]
    macs = cost.counts["compute_cycles"]
    tiles = math.ceil(layer.K / SIDE) * math.ceil(layer.C / SIDE) * SIDE**2 / (layer.K * layer.C)
    fetched = (inputs + filters, filters, filters * tiles)
    return [cost.latency_cycles, *(max(n / bytes_per_cycle(), macs) for n in fetched)]


def layer_of(name: str, app: Figures) -> Layer:
    """A layer of an application, see tpu.yaml."""
    taps = app.get("taps", 1)
    side = app.get("side") or round(math.sqrt(app["weights"] / app["layers"]) / taps)
    if taps == 1:
        return layers.from_fields(name, "gemm", {"M": app["batch"], "N": side, "K": side})
    pad = taps // 2
    extent = app["rows"] + 2 * pad
    shape = {"N": app["batch"], "K": side, "C": side, "Y": extent, "X": extent}
    return layers.from_fields(name, "conv", {**shape, "R": taps, "S": taps, "padding": [pad] * 4})


def mapping_of(layer: Layer) -> ChainMapping:
    """The mapping, as the module's docstring says."""
    images = max(1, min(layer.N, ROWS // (layer.out_y * layer.out_x)))
    tile = {"K": min(SIDE, layer.K), "C": min(SIDE, layer.C), "R": 1, "S": 1}
    spread = (Spread("K", SIDE), Spread("C", SIDE, 1))
    return ChainMapping(
        (
            Entry("UnifiedBuffer", {"N": images}, "NKYXCRS"),
            Entry("WeightFIFO", tile, "NKYXRSC"),
            Entry("Accumulators", {}, "NKYXCRS", spread),
            Entry("Weights", {"K": 1, "C": 1}, "KCNYXRS"),
        )
    )


def bytes_per_cycle() -> float:
    """Of the weight memory."""
    return (CHAINS[CHIP].levels[0].read_bw or 0) / 8


def per_second() -> float:
    """Cycles."""
    return (CHAINS[CHIP].clock_mhz or 0) * 1e6
