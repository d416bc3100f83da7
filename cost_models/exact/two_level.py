"""Today's mapping of two levels as a nest.

The chain is ``L2 -> clusters -> L1``: L2 works on the tiles of all clusters, clusters hold nothing.
"""

from __future__ import annotations

from dataclasses import replace

from cost_models.buffers import Buffer
from cost_models.exact.machine import Machine, Tensors
from cost_models.exact.nest import ONE, Lanes, Nest, NestLevel, Port, Rules, Window
from cost_models.lowering import clipped
from cost_models.mapping import Mapping
from layers import DIMS, TENSORS, Layer


def nest_of(
    layer: Layer,
    machine: Machine,
    mapping: Mapping,
    rules: Rules,
    *,
    box: bool = False,
    padding_free: bool = False,
) -> Nest:
    """The loop nest of a mapping: tiles clipped to the extents, inner ones to outer ones.

    Args:
        layer: The layer.
        machine: The chip.
        mapping: A mapping whose units the chip has.
        rules: How it is counted.
        box: Whether input tiles hold the rows and columns between those that they touch.
        padding_free: Whether padding is no traffic.
    """
    extents = layer.extents
    outer, inner = clipped(mapping.tiles, extents)
    num_pes = machine.chip.num_pes if mapping.num_pes is None else mapping.num_pes
    clusters, pes = (
        units_of(mapping, level, count)
        for level, count in enumerate((num_pes // mapping.cluster_size, mapping.cluster_size))
    )
    span = [min(t * u, n) for t, u, n in zip(outer, clusters, extents, strict=True)]
    orders = [tuple(DIMS.index(d) for d in order) for order in mapping.orders]
    l2, l1 = machine.buffers
    past_l2, past_l1 = machine.passes(mapping.bypass)
    to_pes = Port(l1.read_bw, l1.write_bw)
    return Nest(
        extents=extents,
        levels=(
            _memory(l2, past_l2, NestLevel(tuple(span), ONE, orders[0], port=to_pes)),
            NestLevel(outer, clusters, keeps=(False,) * 3, port=None),
            _memory(l1, past_l1, NestLevel(inner, pes, orders[1])),
        ),
        coupled=layer.coupled_dims,
        windows=windows_of(layer, box, padding_free),
        widths=machine.widths,
        dram=Port(l2.read_bw, l2.write_bw),
        lanes=Lanes(any=machine.chip.simd_lanes),
        rules=rules,
    )


def _memory(buffer: Buffer, passing: Tensors, level: NestLevel) -> NestLevel:
    """A level with the room of a buffer, which keeps all tensors but those that pass it."""
    i, f, o = (tensor not in passing for tensor in TENSORS)
    return replace(
        level,
        keeps=(i, f, o),
        copies=buffer.copies,
        shared_bits=buffer.capacity_bits,
        own_bits=buffer.tensor_bits,
    )


def units_of(mapping: Mapping, level: int, count: int) -> tuple[int, ...]:
    """Units of a level along each dimension; spare ones idle."""
    first, second = mapping.parallel[level], mapping.parallel2[level]
    if second is None:
        taken = {first: count}
    else:
        some = mapping.units[level] or 1
        taken = {first: some, second: count // some}
    return tuple(taken.get(d, 1) for d in DIMS)


def windows_of(layer: Layer, box: bool, padding_free: bool) -> tuple[Window, Window]:
    """How a layer's outputs and taps touch rows, and columns.

    Args:
        layer: The layer.
        box: Whether input tiles hold what lies between the rows and columns that they touch.
        padding_free: Whether padding is no traffic.
    """
    top, bottom, left, right = layer.padding
    real = ((top, layer.Y - bottom), (left, layer.X - right)) if padding_free else (None, None)
    return (
        Window(layer.stride_y, layer.dilation_y, real[0], box),
        Window(layer.stride_x, layer.dilation_x, real[1], box),
    )
