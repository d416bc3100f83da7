"""A layer on an accelerator as the integers that the kernel takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.exact.layout import (
    ALL_DIMS,
    HALO_NONE,
    HALO_RETAIN,
    HALO_SLIDE,
    HW_FIELDS,
    NEST_DIMS,
    IntTable,
    N,
    R,
    Y,
)
from layers import COUPLED, DIMS, Layer

HALOS = {"none": HALO_NONE, "slide": HALO_SLIDE, "retain": HALO_RETAIN}


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


def coupled_dims(layer: Layer) -> tuple[tuple[int, ...], ...]:
    """Dimensions of input, filter and output of a layer."""
    return tuple(tuple(DIMS.index(d) for d in dims) for dims in COUPLED[layer.kind])


def layer_numbers(
    layer: Layer, accelerator: Accelerator, options: tuple[str, bool, bool, int]
) -> IntTable:
    """The table `hw` of a layer; `options` as :func:`kernel_numbers` takes them.

    The kernel counts elements: a chip whose tensors differ in width, capacity or direction is taken
    as :meth:`Accelerator.in_elements` gives it.
    """
    return kernel_numbers(
        layer.extents,
        (layer.stride_y, layer.stride_x),
        (layer.dilation_y, layer.dilation_x),
        coupled_dims(layer),
        accelerator.in_elements(),
        options,
    )


def kernel_numbers(
    extents: Sequence[int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    coupled: Sequence[Sequence[int]],
    accelerator: Accelerator,
    options: tuple[str, bool, bool, int],
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
    """
    halo, tile, bound, buffers = options
    pairs = [
        distances(extents[Y + pair], extents[R + pair], strides[pair], dilations[pair])
        for pair in range(2)
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
