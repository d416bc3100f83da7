"""The numbers that bounds take, read off a layer, a chip and the model's options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cost_models.accelerator import Accelerator
from cost_models.exact.bounds.bound_problem import (
    ENERGIES,
    FACTS,
    FLAGS,
    HALOS,
    IN,
    LIMITS,
    OUT,
    D,
    Floats,
    Ints,
    R,
    Y,
)
from cost_models.lower_bounds import Structures
from layers import Layer

if TYPE_CHECKING:
    from cost_models.exact.machine import Machine
    from cost_models.exact.options import ExactOptions


@dataclass(frozen=True)
class Passing:
    """Which tensors pass L2, and which L1, as bits; the chip's and the mapping's."""

    l2: int
    l1: int

    @classmethod
    def of(cls, machine: Machine, bypass: Sequence[Sequence[bool]]) -> Passing:
        """What passes where a mapping's `bypass`, ``(2, 3)``, comes on top of the chip's."""
        masks = [
            sum(1 << t for t in range(3) if chosen[t] or not held[t])
            for held, chosen in zip(machine.holds, bypass, strict=True)
        ]
        return cls(*masks)

    @property
    def refused(self) -> bool:
        """Whether a tensor is kept nowhere, or a level is left without one."""
        return bool(self.l2 & self.l1) or 7 in (self.l2, self.l1)


def problem_facts(
    model: ExactOptions,
    layer: Layer,
    accelerator: Accelerator,
    limits: Mapping[str, float],
    passing: Passing,
    area: tuple[float, float],
) -> Floats:
    """``(FACTS,)`` numbers of a problem.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        limits: Such as ``{"max_latency_cycles": 1e6}``.
        passing: The tensors that pass a buffer.
        area: Area of an element that L2, or every L1 together, must hold [um^2].
    """
    machine, extents = model.machine(accelerator), layer.extents
    sizes = [
        math.prod(extents[d] for d in dims if tensor != IN or not Y <= d <= R + 1)
        for tensor, dims in enumerate(layer.coupled_dims)
    ]
    pairs = [
        _distances(extents[Y + pair], extents[R + pair], stride, dilation)
        for pair, (stride, dilation) in enumerate(
            [(layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x)]
        )
    ]
    inputs, filters, outputs, psums = machine.widths
    l2, l1 = machine.buffers
    bandwidths = (l1.read_bw, l1.write_bw, l2.read_bw, l2.write_bw)
    held, slots = _rooms(machine, passing, model.residents, limits)
    bits = (inputs * real_share(model, layer), filters, psums)
    crossing = [0.0 if here else b for b, here in zip(bits, model.residents, strict=True)]
    facts = [
        *extents,
        *(stride for stride, _ in pairs),
        *(dilation for _, dilation in pairs),
        *sizes,
        *bits,
        *crossing,
        0.0 if model.residents[OUT] else min(outputs, psums),
        *(math.inf if bits is None else bits for bits in bandwidths),
        limits.get("max_latency_cycles", math.inf),
        min(limits.get(f"max_{name}", math.inf) for name in ENERGIES),
        accelerator.simd_lanes,
        *(of_one / (max(each) or 1.0) for of_one, each in zip(area, held, strict=True)),
        *held[0],
        *held[1],
        *(number for level in slots for slot in _filled(level) for number in slot),
    ]
    assert len(facts) == FACTS
    return np.array(facts, dtype=np.float64)


def _distances(outputs: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    """Distances of outputs and of taps in rows, brought to a form that touches as many rows.

    Common divisors only leave rows out. Where no two pairs of an output and a tap touch the same
    row, all such pairs of distances are alike.

    Returns:
        Two numbers without a common divisor, the first at most `taps`.
    """
    common = math.gcd(stride, dilation)
    stride, dilation = stride // common, dilation // common
    if stride >= taps or dilation >= outputs:
        return taps, 1
    return stride, dilation


def _mask_of(dims: Sequence[int]) -> int:
    """Dimensions as a bit mask."""
    return sum(1 << d for d in dims)


Slot = tuple[float, float, float, float]


def _filled(slots: Sequence[Slot]) -> list[Slot]:
    return [*slots, *[(math.inf, 0.0, 0.0, 0.0)] * (LIMITS - len(slots))]


def _rooms(
    machine: Machine,
    passing: Passing,
    resident: tuple[bool, bool, bool],
    most: Mapping[str, float],
) -> tuple[list[list[float]], list[list[Slot]]]:
    """Bits that an element takes, by level and tensor, and each level's capacities.

    A capacity is followed by the bits that an element of each tensor takes of it; the last is what
    a limit such as ``max_l2_bytes`` leaves of all.
    """
    nowhere = sum(1 << t for t in range(3) if resident[t])
    inputs, filters, _, psums = machine.widths
    held: list[list[float]] = []
    slots: list[list[Slot]] = []
    levels = ((passing.l2 | nowhere, "max_l2_bytes"), (passing.l1, "max_l1_bytes"))
    for buffer, (passes, limit) in zip(machine.buffers, levels, strict=True):
        bits = [
            0.0 if passes >> t & 1 else float(width * buffer.copies[t])
            for t, width in enumerate((inputs, filters, psums))
        ]
        shared = [
            b if own is None else 0.0 for b, own in zip(bits, buffer.tensor_bits, strict=True)
        ]
        limits: list[Slot] = []
        if buffer.capacity_bits is not None and any(shared):
            limits.append((buffer.capacity_bits, shared[0], shared[1], shared[2]))
        for t, own in enumerate(buffer.tensor_bits):
            if own is not None and bits[t]:
                a, b, c = (bits[i] if i == t else 0.0 for i in range(3))
                limits.append((own, a, b, c))
        if limit in most and any(bits):
            limits.append((8 * most[limit], bits[0], bits[1], bits[2]))
        held.append(bits)
        slots.append(limits)
    return held, slots


def problem_flags(
    model: ExactOptions,
    layer: Layer,
    accelerator: Accelerator,
    figures: Sequence[str],
    structures: Structures,
    passing: Passing,
    limits: Mapping[str, float],
) -> Ints:
    """``(FLAGS,)`` whole numbers of a problem; arguments as `problem_facts`.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.
        figures: Factors of the objective, of `BOUNDED`.
        structures: The tiles that are offered.
        passing: The tensors that pass a buffer.
        limits: Such as ``{"max_l2_bytes": 1000}``.
    """
    slots = _rooms(model.machine(accelerator), passing, model.residents, limits)[1]
    free = is_free(model, layer)
    loose = free or (model.window == "box" and _skips(layer, structures))
    fills = model.latency == "stepwise"
    active = [d for d in range(D) if layer.extents[d] > 1]
    flags = [
        *map(_mask_of, layer.coupled_dims),
        figures.count("latency_cycles"),
        sum(map(figures.count, ENERGIES)),
        figures.count("area_um2"),
        HALOS[model.halo_time],
        fills,
        fills and not loose and passing.l2 == 0 and passing.l1 == 0,
        passing.l2,
        passing.l1,
        loose,
        free,
        *map(len, slots),
        len(active),
        *active,
        *[0] * (D - len(active)),
    ]
    assert len(flags) == FLAGS
    return np.array(flags, dtype=np.int64)


def _skips(layer: Layer, structures: Structures) -> bool:
    """Whether an input tile may leave rows (or columns) out that lie between its own."""
    for pair, (stride, dilation) in enumerate(
        [(layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x)]
    ):
        taps = layer.extents[R + pair]
        tiles = (structures.outer_tiles[R + pair], structures.inner_tiles[R + pair])
        whole = all(choices.min() >= taps for choices in tiles)
        if dilation > 1 or (stride > 1 and not (whole and stride <= taps)):
            return True
    return False


def is_free(model: ExactOptions, layer: Layer) -> bool:
    """Whether a layer has padding that is no traffic."""
    return model.padding == "free" and any(layer.padding)


def real_share(model: ExactOptions, layer: Layer) -> float:
    """Share of the input elements that a layer touches which are traffic."""
    return real_inputs(layer) / layer.input_size if is_free(model, layer) else 1.0


def real_inputs(layer: Layer) -> int:
    """Input elements that the layer touches, padding left out."""
    top, bottom, left, right = layer.padding
    channels = math.prod(layer.extents[d] for d in layer.coupled_dims[IN] if not Y <= d <= R + 1)
    area = 1
    for pair, (stride, dilation, low, end) in enumerate(
        [
            (layer.stride_y, layer.dilation_y, top, layer.Y - bottom),
            (layer.stride_x, layer.dilation_x, left, layer.X - right),
        ]
    ):
        outputs, taps = np.arange(layer.extents[Y + pair]), np.arange(layer.extents[R + pair])
        rows = np.unique(stride * outputs[:, None] + dilation * taps)
        area *= int(((rows >= low) & (rows < end)).sum())
    return channels * area
