"""Lower bounds of a chain's figures: what a mapping costs that moves nothing twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cost_models.buffers import Flags
from cost_models.chain.chip import Chain, ChainLevel
from cost_models.chain.level_moves import leakage_mw
from cost_models.chain.level_prices import mac_nj, prices_of
from cost_models.chain.wires import built_um2, deliveries, least_delivered
from cost_models.exact.floors import real_inputs
from cost_models.exact.nest import FILTER, INPUT, OUTPUT
from cost_models.laws import unique_elements
from cost_models.prices import LevelPrices, clock_of
from layers import TENSORS, Layer

PSUM = 3


def chain_floors(
    layer: Layer, chip: Chain, bypass: bool, padding_free: bool, resident: Flags
) -> dict[str, float]:
    """Figures that no mapping of a layer on a chain goes below.

    MACs work at the peak, and every tensor passes DRAM's port once. Every element is read and
    written once in each memory that holds its tensor; the innermost of them serves every MAC, all
    MACs at once that share reads or add their sums.

    Args:
        layer: The layer.
        chip: The chip.
        bypass: Whether mappings may have tensors bypass a memory that could hold them.
        padding_free: Whether padding is not counted.
        resident: Whether input, filter and output are whole in the first level inside DRAM.

    Returns:
        ``latency_cycles``; ``energy_nj`` and ``energy_total_nj`` [nJ]; ``area_um2`` and
        ``power_mw``.
    """
    elements = [unique_elements(layer)[tensor] for tensor in TENSORS]
    if padding_free:
        elements[INPUT] = real_inputs(layer)
    loaded = [n * (not here) for n, here in zip(elements, resident, strict=True)]
    latency = max(-(-layer.macs // chip.peak_macs_per_cycle), offchip_cycles(chip, loaded))
    energy = energy_floor(LeastWork(layer.macs, elements, resident, bypass, padding_free), chip)
    leakage = leakage_mw(chip)
    energy += leakage * latency / clock_of(chip)
    areas = {name: found.area_um2 for name, found in _prices(chip).items()}
    return {
        "latency_cycles": float(latency),
        "energy_nj": float(energy),
        "energy_total_nj": float(energy),
        "area_um2": float(built_um2(chip, areas)),
        "power_mw": float(leakage),
    }


class LeastWork(NamedTuple):
    """What has to be done in any case: numbers, or arrays of many layers, or sums of layers.

    Args:
        macs: Multiply-accumulates.
        elements: Elements of input, filter and output.
        resident: Whether they are whole in the first level inside DRAM.
        bypass: Whether mappings may have tensors bypass a memory that could hold them.
        padding_free: Whether padding is not counted.
    """

    macs: Any
    elements: Sequence[Any]
    resident: Flags
    bypass: bool = False
    padding_free: bool = False


def energy_floor(work: LeastWork, chip: Chain) -> Any:
    """Energy that no mapping goes below, but for leakage [nJ]; see :func:`chain_floors`."""
    prices = _prices(chip)
    elements, dram = work.elements, prices[chip.levels[0].name]
    loaded = [n * (not here) for n, here in zip(elements, work.resident, strict=True)]
    energy = work.macs * mac_nj(chip)
    energy = energy + sum(dram.read[t] * loaded[t] for t in (INPUT, FILTER))
    energy = energy + dram.write[OUTPUT] * loaded[OUTPUT]
    for tensor, here in enumerate(work.resident):
        energy = energy + _held_nj(work, chip, prices, tensor)
        if here:  # one way less: into its level for inputs and filters, out of it for outputs
            home = prices[chip.levels[1].name]
            out = min(home.read[OUTPUT], home.read[PSUM])
            price = out if tensor == OUTPUT else home.write[tensor]
            energy = energy - price * elements[tensor]
    areas = {name: found.area_um2 for name, found in prices.items()}
    widths = (chip.widths.input, chip.widths.filter, chip.widths.psum)
    for place, price in deliveries(chip, areas):
        crossing = least_delivered(chip, place, work.macs, elements if place else loaded)
        energy = energy + price * sum(n * bits for n, bits in zip(crossing, widths, strict=True))
    return energy


def offchip_cycles(chip: Chain, elements: Sequence[Any]) -> Any:
    """Cycles of elements of input, filter and output over DRAM's port, at least."""
    dram, widths = chip.levels[0], chip.widths
    loads = elements[INPUT] * widths.input + elements[FILTER] * widths.filter
    results = elements[OUTPUT] * widths.output
    if dram.shared_bw:
        loads, results = loads + results, 0
    pairs = ((loads, dram.read_bw), (results, dram.write_bw))
    read, written = (0 if rate is None else np.ceil(bits / rate) for bits, rate in pairs)
    return np.maximum(read, written)


def _stores(level: ChainLevel) -> bool:
    return level.name == "DRAM" or level.is_memory


def _prices(chip: Chain) -> dict[str, LevelPrices]:
    """The prices of all levels; those of the smallest memory where one has no capacity."""
    return {level.name: prices_of(chip, level, 0.0) for level in chip.levels if _stores(level)}


def _held_nj(work: LeastWork, chip: Chain, prices: dict[str, LevelPrices], tensor: int) -> Any:
    """Energy of a tensor in the memories that hold it [nJ]."""
    holders = [place for place, level in enumerate(chip.inner, 1) if level.holds[tensor]]
    served, elements = [], work.elements[tensor]
    for place in holders:
        level = prices[chip.levels[place].name]
        macs = work.macs / _sharing(chip, place, tensor)
        if tensor == OUTPUT:
            served.append(_sums_nj(macs, chip, level, place, elements))
            continue
        if work.padding_free and tensor == INPUT:
            macs = 0
        reads = np.maximum(macs, elements)
        served.append(level.read[tensor] * reads + level.write[tensor] * elements)
    if work.bypass:
        return np.minimum.reduce(served)
    passed = 0.0
    for place in holders[:-1]:
        level = prices[chip.levels[place].name]
        part = min(level.read[tensor], level.read[PSUM] if tensor == OUTPUT else math.inf)
        into = min(level.write[tensor], level.write[PSUM] if tensor == OUTPUT else math.inf)
        passed = passed + (part + into) * elements
    return passed + served[-1]


def _sums_nj(sums: Any, chip: Chain, level: LevelPrices, place: int, outputs: Any) -> Any:
    """Energy of the sums of all MACs in one memory: each is written, and read but for first ones.

    Every instance begins each of its sums without a read.
    """
    instances = math.prod(outside.fanout.units for outside in chip.levels[:place])
    reads = np.maximum(0.0, sums - outputs * instances)
    return level.write[PSUM] * sums + level.read[PSUM] * reads


def _sharing(chip: Chain, place: int, tensor: int) -> int:
    """MACs at most that one access of a memory serves."""
    return math.prod(
        axis.units
        for level in chip.levels[place:]
        if not level.fanout.any
        for axis in level.fanout.axes
        if (axis.reduce if tensor == OUTPUT else axis.multicast)
    )
