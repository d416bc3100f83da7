"""The numbers that bounds take, read off a layer, a chip and the model's options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.cost_model import Structures
from cost_models.exact.bounds.box_records import IN, OUT, TENSORS, P, Problem, R, S
from cost_models.exact.figures import ENERGIES
from cost_models.exact.floors import real_inputs
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

CYCLES, AREA = ("latency_cycles",), ("area_um2",)
BOUNDED: Final = CYCLES + ENERGIES + AREA
"""Figures that the bounds know."""


class Asked(NamedTuple):
    """What is bounded.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, of `BOUNDED`.
        limits: Largest figures allowed, such as ``{"max_latency_cycles": 1e6}``.
        structures: Allocations and tiles.
    """

    model: ExactOptions
    layer: Layer
    accelerator: Accelerator
    figures: Sequence[str]
    limits: Mapping[str, float]
    structures: Structures


@dataclass(frozen=True)
class Bypass:
    """Tensors that bypass L2, and L1, as bits: the chip's and the mapping's."""

    l2: int
    l1: int

    @classmethod
    def of(cls, chip: Accelerator, bypass: Sequence[Sequence[bool]]) -> Bypass:
        """What is bypassed where a mapping's `bypass`, ``(2, 3)``, comes on top of the chip's."""
        masks = [
            sum(1 << t for t in range(TENSORS) if chosen[t] or not level.holds[t])
            for level, chosen in zip(chip.buffers(), bypass, strict=True)
        ]
        return cls(*masks)

    @property
    def refused(self) -> bool:
        """Whether a tensor is kept nowhere, or a level is left without one."""
        return bool(self.l2 & self.l1) or 7 in (self.l2, self.l1)


def problem_row(asked: Asked, bypassed: Bypass, area: tuple[float, float]) -> NDArray[Any]:
    """The `Problem` of a choice of tensors that bypass a level, but for its prices.

    Args:
        asked: What is bounded.
        bypassed: The tensors that bypass a level.
        area: Area of an element that L2, or every L1 together, must hold [um^2].
    """
    model, layer, figures = asked.model, asked.layer, asked.figures
    chip, free = asked.accelerator, model.is_free(layer)
    inputs, filters, outputs, psums = chip.widths
    share = real_inputs(layer) / layer.input_size if free else 1.0
    loose = free or (model.window == "box" and _skips(layer, asked.structures))
    fills = model.latency == "stepwise"
    distances = [_distances(layer, pair) for pair in range(2)]
    here = sum(1 << t for t, whole in enumerate(model.residents) if whole)
    held, slots = _rooms(asked, bypassed, here)
    bits = (inputs * share, filters, psums)
    buffers = chip.buffers(model.double_buffer)
    crossing = [0.0 if here >> t & 1 else width for t, width in enumerate(bits)]
    values: dict[str, Any] = {
        "retain": model.halo_time == "retain",
        "fills": fills,
        "phases": fills and not loose and bypassed.l2 == 0 and bypassed.l1 == 0,
        "bypass_l2": bypassed.l2,
        "bypass_l1": bypassed.l1,
        "refused": bypassed.refused or bool(bypassed.l2 & here),
        "loose": loose,
        "free": free,
        "leave": 0 if model.residents[OUT] else min(outputs, psums),
        "most_cycles": asked.limits.get("max_latency_cycles", math.inf),
        "most_energy": min(asked.limits.get(f"max_{name}", math.inf) for name in ENERGIES),
        "lanes": asked.accelerator.simd_lanes,
        "power": [sum(map(figures.count, names)) for names in (CYCLES, ENERGIES, AREA)],
        "coupled": [sum(1 << d for d in dims) for dims in layer.coupled_dims],
        "slots": [len(level) for level in slots],
        "held": [(0.0, *bits) for bits in held],
        "stride": [stride for stride, _ in distances],
        "dilation": [dilation for _, dilation in distances],
        "size": [
            math.prod(layer.extents[d] for d in dims if tensor != IN or not P <= d <= S)
            for tensor, dims in enumerate(layer.coupled_dims)
        ],
        "bits": [crossing, bits],
        "into": [math.inf if level.read_bw is None else level.read_bw for level in buffers],
        "out": [math.inf if level.write_bw is None else level.write_bw for level in buffers],
        "area": [of_one / (max(each) or 1.0) for of_one, each in zip(area, held, strict=True)],
    }
    found = np.zeros((), Problem)
    for name, value in values.items():
        found[name] = value
    for level, rooms in enumerate(slots):
        found["slot"][level, : len(rooms)] = rooms
    return found


def _distances(layer: Layer, pair: int) -> tuple[int, int]:
    """Distances of outputs and of taps in rows, brought to a form that touches as many rows.

    Common divisors only leave rows out. Where no two pairs of an output and a tap touch the same
    row, all such pairs of distances are alike.

    Returns:
        Two numbers without a common divisor, the first at most the taps.
    """
    stride, dilation = _window(layer)[pair]
    outputs, taps = layer.extents[P + pair], layer.extents[R + pair]
    common = math.gcd(stride, dilation)
    stride, dilation = stride // common, dilation // common
    if stride >= taps or dilation >= outputs:
        return taps, 1
    return stride, dilation


def _window(layer: Layer) -> tuple[tuple[int, int], tuple[int, int]]:
    """Stride and dilation of rows, and of columns."""
    return (layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x)


_Room = tuple[float, ...]


def _rooms(
    asked: Asked, bypassed: Bypass, here: int
) -> tuple[list[list[float]], list[list[_Room]]]:
    """Bits that an element takes, by level and tensor, and each level's capacities.

    A capacity is followed by the bits that an element of each tensor takes of it; the last is what
    a limit such as ``max_l2_bytes`` leaves of all.
    """
    inputs, filters, _, psums = asked.accelerator.widths
    buffers = asked.accelerator.buffers(asked.model.double_buffer)
    held: list[list[float]] = []
    slots: list[list[_Room]] = []
    levels = ((bypassed.l2 | here, "max_l2_bytes"), (bypassed.l1, "max_l1_bytes"))
    for buffer, (absent, name) in zip(buffers, levels, strict=True):
        bits = [
            0.0 if absent >> t & 1 else float(width * buffer.copies[t])
            for t, width in enumerate((inputs, filters, psums))
        ]
        own = buffer.tensor_bits
        shared = [b if limit is None else 0.0 for b, limit in zip(bits, own, strict=True)]
        limits: list[_Room] = []
        if buffer.capacity_bits is not None and any(shared):
            limits.append((buffer.capacity_bits, *shared))
        for t, limit in enumerate(own):
            if limit is not None and bits[t]:
                limits.append((limit, *(bits[i] if i == t else 0.0 for i in range(TENSORS))))
        if name in asked.limits and any(bits):
            limits.append((8 * asked.limits[name], *bits))
        held.append(bits)
        slots.append(limits)
    return held, slots


def _skips(layer: Layer, structures: Structures) -> bool:
    """Whether an input tile may leave rows (or columns) out that lie between its own."""
    for pair, (stride, dilation) in enumerate(_window(layer)):
        taps = layer.extents[R + pair]
        tiles = (structures.outer_tiles[R + pair], structures.inner_tiles[R + pair])
        whole = all(choices.min() >= taps for choices in tiles)
        if dilation > 1 or (stride > 1 and not (whole and stride <= taps)):
            return True
    return False
