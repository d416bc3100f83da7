"""A layer on an accelerator as the integers that the kernel takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.exact.layout import (
    ALL_DIMS,
    BOX,
    CHIP_PASSES,
    COPIES,
    DRAM_OUT_BW,
    FREE,
    HALO_NONE,
    HALO_RETAIN,
    HW_FIELDS,
    LEVEL_FIELDS,
    NEST_DIMS,
    NOC_IN_BW,
    OWN,
    PAD_END,
    PAD_LOW,
    SHARED,
    TRUE_STEP,
    TRUE_STRIDE,
    WIDE_FIELDS,
    WIDTH,
    IntTable,
    N,
    R,
    Y,
)
from cost_models.exact.machine import Machine
from layers import Layer

HALOS = {"none": HALO_NONE, "retain": HALO_RETAIN}


def distances(outputs: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
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


def mask_of(dims: Sequence[int]) -> int:
    """Dimensions as a bit mask."""
    return sum(1 << d for d in dims)


def shift_of(bandwidth: int) -> int:
    """The base-two logarithm of a power of two; -1 for any other number."""
    return -1 if bandwidth & (bandwidth - 1) else bandwidth.bit_length() - 1


def layer_numbers(
    layer: Layer,
    accelerator: Accelerator,
    options: tuple[str, bool, bool, int],
    box: bool = False,
) -> IntTable:
    """The table `hw` of a layer; `options` as :func:`kernel_numbers` takes them.

    Capacities and bandwidths are in elements. Of a chip whose tensors differ the table `wide` has
    them (:func:`wide_numbers`), and these are not looked at.
    """
    return kernel_numbers(
        layer.extents,
        (layer.stride_y, layer.stride_x),
        (layer.dilation_y, layer.dilation_x),
        layer.coupled_dims,
        accelerator.in_elements(),
        options,
        box,
    )


def wide_numbers(layer: Layer, machine: Machine, box: bool, free: bool) -> IntTable:
    """The table `wide.n` of a layer on a chip, ``(WIDE_FIELDS,)``; a mapping fills in the rest.

    Args:
        layer: The layer.
        machine: The chip.
        box: Whether an input tile counts as a box.
        free: Whether padding is not counted.
    """
    table = np.full(WIDE_FIELDS, -1, np.int64)
    table[WIDTH : WIDTH + 4] = machine.widths
    table[NOC_IN_BW : DRAM_OUT_BW + 1] = machine.bandwidths
    for level, buffer in enumerate(machine.buffers):
        at = LEVEL_FIELDS * level
        table[SHARED + at] = -1 if buffer.capacity_bits is None else buffer.capacity_bits
        table[OWN + at : OWN + at + 3] = [-1 if own is None else own for own in buffer.tensor_bits]
        table[COPIES + at : COPIES + at + 3] = buffer.copies
        absent = [tensor for tensor, held in enumerate(buffer.holds) if not held]
        table[CHIP_PASSES + at] = mask_of(absent)
    table[BOX], table[FREE] = box, free
    axes = ((layer.stride_y, layer.dilation_y), (layer.stride_x, layer.dilation_x))
    top, bottom, left, right = layer.padding
    real = ((top, layer.Y - bottom), (left, layer.X - right))
    for pair, ((stride, dilation), (low, end)) in enumerate(zip(axes, real, strict=True)):
        # rows that no output touches for a common divisor of both are left out
        common = 1 if box else math.gcd(stride, dilation)
        table[TRUE_STRIDE + pair], table[TRUE_STEP + pair] = stride // common, dilation // common
        table[PAD_LOW + pair], table[PAD_END + pair] = -(-low // common), -(-end // common)
    return table


def kernel_numbers(
    extents: Sequence[int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    coupled: Sequence[Sequence[int]],
    accelerator: Accelerator,
    options: tuple[str, bool, bool, int],
    box: bool = False,
) -> IntTable:
    """The table `hw`, ``(HW_FIELDS,)``.

    Args:
        extents: Eight extents, Y and X in output coordinates.
        strides: Step of the filter in rows and columns.
        dilations: Distance of neighbouring taps in rows and columns.
        coupled: Dimensions of input, filter and output.
        accelerator: The accelerator.
        options: `halo_time`; whether `halo_space` is "tile"; whether `latency` is "bound"; copies
            of each tile that a buffer holds.
        box: Whether an input tile counts what lies between its rows and columns.
    """
    halo, tile, bound, buffers = options
    pairs = list(zip(strides, dilations, strict=True))
    if not box:
        pairs = [
            distances(extents[Y + pair], extents[R + pair], *distance)
            for pair, distance in enumerate(pairs)
        ]
    noc, offchip = accelerator.noc_bw or UNLIMITED_BW, accelerator.offchip_bw or UNLIMITED_BW
    hw = np.array(
        [
            *extents,
            ALL_DIMS if max(extents[N:]) > 1 else NEST_DIMS,
            *(stride for stride, _ in pairs),
            *(step for _, step in pairs),
            *(mask_of(dims) for dims in coupled),
            accelerator.num_pes,
            -1 if accelerator.l1_bytes is None else accelerator.l1_bytes,
            -1 if accelerator.l2_bytes is None else accelerator.l2_bytes,
            noc,
            offchip,
            shift_of(noc),
            shift_of(offchip),
            accelerator.simd_lanes,
            HALOS[halo],
            tile,
            bound,
            buffers,
        ],
        np.int64,
    )
    assert hw.shape == (HW_FIELDS,)
    return hw
