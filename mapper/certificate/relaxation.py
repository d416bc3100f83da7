"""The checker's own lower bounds of a box: DRAM traffic, compute and energy, by docs/bounds.md.

It is written from the page and shares no code with the model's bounds, so that an error in one of
them is not in the other. It is looser: what a box's smallest tiles ask of buffers, the order of
steps, and traffic between memories inside are left out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cost_models import Chain, LevelPrices, chain_prices, clock_of, energy_of_counts, real_inputs
from layers import DIMS
from maestro_env import Problem
from marl_common import BoolArray, FloatArray, IntArray

INPUT, FILTER, OUTPUT = range(3)
WINDOWS = ((DIMS.index("Y"), DIMS.index("R")), (DIMS.index("X"), DIMS.index("S")))
ENERGIES = ("energy_nj", "energy_total_nj")
TIGHT = 1 - 1e-12
"""Rounding of sums and products."""
UW_PER_MW = 1000.0


class Boxes(NamedTuple):
    """Boxes of mappings on a chain of memories; a chip of two levels is the chain L2, L1.

    Args:
        units: ``(B, M + 1, 8)`` units along each dimension from each memory (DRAM first) to the
            next, and below the last one.
        high: ``(B, M, 8)`` the largest tile of one instance of each memory inside DRAM.
        direct: ``(B, 3)`` whether input, filter and output pass the outermost of them.
    """

    units: IntArray
    high: IntArray
    direct: BoolArray


class Floors(NamedTuple):
    """What no mapping of a box goes below; each ``(B,)``.

    Args:
        dram: Elements that cross DRAM's boundary.
        compute: Cycles of the busiest instance.
        energy: Energy [nJ].
        value: The objective; inf beyond a limit on latency or energy.
    """

    dram: FloatArray
    compute: FloatArray
    energy: FloatArray
    value: FloatArray


class OwnBounds:
    """Floors of boxes of one problem's space.

    Args:
        problem: The problem.
        figures: Factors of what is bounded; None for the objective's.
    """

    def __init__(self, problem: Problem, figures: tuple[str, ...] | None = None) -> None:
        self.problem, self.layer = problem, problem.layer
        self._figures = problem.objective.figures if figures is None else figures
        chip, model = problem.accelerator, problem.cost_model
        self._deep = isinstance(chip, Chain)
        self._chain = chip if isinstance(chip, Chain) else chip.to_levels()
        self._extents = np.array(self.layer.extents)
        self._relevant = [frozenset(dims) for dims in self.layer.coupled_dims]
        self._bounds = problem.figure_bounds
        options = getattr(model, "options", {})
        resident = str(options.get("resident", "")).split("+")
        inside = [name in resident for name in ("input", "filter", "output")]
        self._once = np.array(self._unique(options)) * np.logical_not(inside)
        self._moves = [self._moved(t, options) * (not inside[t]) for t in range(3)]
        self._memories = [self._chain.levels[0], *self._chain.memories]
        prices = chain_prices(self._chain, {})  # memories without a capacity at their smallest
        self._mac_nj = prices.mac_nj
        self._prices = [prices.levels[level.name] for level in self._memories]
        self._slopes = self._deep_slopes() if self._deep else self._flat_slopes()

    # -------------------------------------------------------------- tensors

    def _unique(self, options: Any) -> list[int]:
        """Elements of each tensor that cross DRAM's boundary once at least."""
        layer = self.layer
        free = options.get("padding") == "free" and any(layer.padding)
        inputs = real_inputs(layer) if free else layer.input_size
        return [inputs, layer.filter_size, layer.output_size]

    def _moved(self, tensor: int, options: Any) -> float:
        """Elements of a tensor that come in every time the other dimensions' loops come around.

        A tile of the input brings at least the rows that its neighbour lacks. Where padding is
        free, windows are boxes, or filters have tiles, it is not known to bring any.
        """
        relevant = self._relevant[tensor]
        if tensor != INPUT:
            return float(math.prod(self.layer.extents[d] for d in relevant))
        layer = self.layer
        taps = any(p.kind == "tile" and p.dim in "RS" and len(p) > 1
                   for p in self.problem.space.parameters)  # fmt: skip
        if taps or options.get("padding") == "free" or options.get("window") == "box":
            return 0.0
        paired = {d for pair in WINDOWS for d in pair}
        found = math.prod(layer.extents[d] for d in relevant if d not in paired)
        strides = ((layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x))
        for (rows, taps_), (stride, dilation) in zip(WINDOWS, strides, strict=True):
            new = min(layer.extents[taps_], stride) if dilation == 1 else 1
            found *= new * layer.extents[rows]
        return float(found)

    # -------------------------------------------------------------- prices

    def _deep_slopes(self) -> tuple[FloatArray, float]:
        """What an element more across DRAM's boundary costs, of each tensor, and a cycle [nJ]."""
        dram, first = self._prices[0], self._prices[1]
        moves = [dram.read[t] + first.write[t] for t in (INPUT, FILTER)]
        moves.append(_least_write(dram) + dram.read.psum)
        instances = {level.name: n for level, n in self._chain.instances()}
        pairs = zip(self._memories, self._prices, strict=True)
        leaks = sum(instances.get(level.name, 0) * prices.leakage_uw for level, prices in pairs)
        return np.array(moves), float(leaks / UW_PER_MW / clock_of(self._chain))

    def _flat_slopes(self) -> tuple[FloatArray, float]:
        """The same for a chip of two levels, read off the model's own prices of counts."""
        model, chip = self.problem.cost_model, self.problem.accelerator
        none = {"l1_bits": 1, "l2_bits": 1}
        moves = ({"dram_in": 1}, {"dram_fil": 1}, {"dram_out_w": 1, "dram_out_r": 1})
        start = energy_of_counts(model, chip, 0, none)
        found = [energy_of_counts(model, chip, 0, none | more) - start for more in moves]
        options = getattr(model, "options", {})
        return np.array(found), float(options.get("cycle_nj", 0.0))

    # -------------------------------------------------------------- floors

    def floors(self, boxes: Boxes) -> Floors:
        """What no mapping of each box goes below."""
        outside = np.cumprod(boxes.units, axis=1)
        steps = -(-self._extents // outside[:, -1])
        for m in range(boxes.high.shape[1]):
            steps = np.maximum(steps, -(-self._extents // (outside[:, m] * boxes.high[:, m])))
        compute = np.ceil(np.prod(steps, axis=1, dtype=np.float64) * TIGHT / self._chain.lanes)
        rounds = -(-self._extents // (outside[:, 0] * boxes.high[:, 0]))
        moved = np.empty((len(rounds), 3))
        for t in range(3):
            free = [d for d in range(len(DIMS)) if d not in self._relevant[t]]
            times = np.prod(rounds[:, free], axis=1, dtype=np.float64)
            moved[:, t] = np.maximum(self._moves[t] * times * TIGHT, self._once[t])
        moved = np.where(boxes.direct, self._once, moved)
        base = self._held(boxes) if self._deep else self._bounds["energy_nj"]
        stays = [self._one(moved, still, compute, base) for still in range(3)]
        return Floors(*(np.min(part, axis=0) for part in zip(*stays, strict=True)))

    def _one(self, moved: FloatArray, still: int, compute: FloatArray, base: Any) -> Floors:
        """Floors where one tensor stays over the innermost loop around the outermost memory."""
        moved = moved.copy()
        moved[:, still] = self._once[still]
        more = moved - self._once
        cycles = np.maximum(np.maximum(compute, self._bounds["latency_cycles"]), self._port(moved))
        slopes, cycle = self._slopes
        known = 0.0 if self._deep else self._bounds["latency_cycles"]
        energy = (base + more @ slopes + cycle * (cycles - known)) * TIGHT
        value = np.ones(len(moved))
        for name in self._figures:
            here = {"latency_cycles": cycles}.get(name, energy if name in ENERGIES else None)
            value = value * (self._bounds.get(name, 0.0) if here is None else here)
        for name, figure in (("latency_cycles", cycles), *((name, energy) for name in ENERGIES)):
            limit = self.problem.limits.get(f"max_{name}", math.inf)
            value = np.where(figure > limit * (1 + 1e-9), np.inf, value)
        return Floors(moved.sum(axis=1) + more[:, OUTPUT], compute, energy, value)

    def _port(self, moved: FloatArray) -> FloatArray:
        """Cycles that DRAM's port takes at least."""
        dram, widths = self._chain.levels[0], self._chain.widths
        back = moved[:, OUTPUT] - self._once[OUTPUT]
        least = np.where(back > 0, widths.psum, min(widths.output, widths.psum))
        into = moved[:, INPUT] * widths.input + moved[:, FILTER] * widths.filter
        into, out = into + back * widths.psum, moved[:, OUTPUT] * least
        if dram.shared_bw:
            into, out = into + out, np.zeros(len(moved))
        parts = [bits * TIGHT / rate for bits, rate in ((into, dram.read_bw), (out, dram.write_bw))
                 if rate is not None]  # fmt: skip
        return np.ceil(np.max(parts, axis=0)) if parts else np.zeros(len(moved))

    # -------------------------------------------------------------- memories of a chain

    def _held(self, boxes: Boxes) -> FloatArray:
        """Energy where nothing crosses a boundary twice, with what MACs read and write [nJ]."""
        inside = np.cumprod(boxes.units[:, ::-1], axis=1)[:, ::-1]
        dram = self._prices[0]
        total = np.full(len(inside), float(self.layer.macs * self._mac_nj))
        for t in range(3):
            once = self._once[t]
            total += once * (_least_write(dram) if t == OUTPUT else dram.read[t])
            holders = [m for m, level in enumerate(self._memories) if m and level.holds[t]]
            for m in holders:
                prices, last = self._prices[m], m == holders[-1]
                if t == OUTPUT:
                    served = prices.read.psum + prices.write.psum
                    if m < len(self._memories) - 1:  # the last one alone holds psums alone
                        least = min(prices.read.output, prices.read.psum) + _least_write(prices)
                        served = min(served, least)
                    total += 0.0 if last else once * served
                else:
                    total += once * (prices.write[t] + (0.0 if last else prices.read[t]))
                    served = prices.read[t]
                if last:
                    total += served * self._served(t, inside[:, m], boxes.high[:, m - 1])
        return total

    def _served(self, tensor: int, inside: IntArray, high: IntArray) -> FloatArray:
        """Elements that MACs read, or sums that they write: units share what they have in common.

        Args:
            tensor: The tensor.
            inside: ``(B, 8)`` units below an instance of the memory that serves it.
            high: ``(B, 8)`` largest tile of that memory.
        """
        paired = {d for pair in WINDOWS for d in pair} if tensor == INPUT else set()
        found = np.ones(len(inside))
        for d, extent in enumerate(self.layer.extents):
            if d in paired:
                continue
            if d in self._relevant[tensor]:
                found *= extent
            else:
                found *= -(-extent // np.minimum(inside[:, d], high[:, d]))
        for rows, taps in WINDOWS if paired else ():
            a, b = (np.minimum(inside[:, d], self._extents[d]) for d in (rows, taps))
            share = (a + b - 1) / (a * b)
            found *= self._extents[rows] * self._extents[taps] * share
        return found * TIGHT


def _least_write(prices: LevelPrices) -> float:
    return float(min(prices.write.output, prices.write.psum))
