"""Today's mapping of two levels as a nest, and a nest's counts by the names that costs have.

The chain is ``L2 -> clusters -> L1``: L2 works on the tiles of all clusters, clusters hold nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from cost_models.buffers import Buffer
from cost_models.exact.machine import Machine
from cost_models.exact.names import L1, L2, MACS
from cost_models.exact.nest import ONE, Lanes, Nest, NestLevel, Port, Rules, Window
from cost_models.mapping import Mapping
from layers import DIMS, TENSORS, Layer

Part = TypeVar("Part")
_NAMES = ("in", "fil")


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
    outer, inner = (
        [tiles.get(d, n) for d, n in zip(DIMS, extents, strict=True)] for tiles in mapping.tiles
    )
    outer = [min(t, n) for t, n in zip(outer, extents, strict=True)]
    inner = [min(t, n) for t, n in zip(inner, outer, strict=True)]
    num_pes = machine.chip.num_pes if mapping.num_pes is None else mapping.num_pes
    clusters, pes = (
        units_of(mapping, level, count)
        for level, count in enumerate((num_pes // mapping.cluster_size, mapping.cluster_size))
    )
    span = [min(t * u, n) for t, u, n in zip(outer, clusters, extents, strict=True)]
    orders = [tuple(DIMS.index(d) for d in order) for order in mapping.orders]
    in_l2, in_l1 = (
        _three(tensor not in part for tensor in TENSORS) for part in machine.passes(mapping.bypass)
    )
    noc_in, noc_out, dram_in, dram_out = machine.bandwidths
    l2, l1 = machine.buffers
    return Nest(
        extents=extents,
        levels=(
            _with_room(
                NestLevel(tuple(span), ONE, orders[0], in_l2, port=Port(noc_in, noc_out)), l2
            ),
            NestLevel(tuple(outer), clusters, keeps=(False,) * 3, port=None),
            _with_room(NestLevel(tuple(inner), pes, orders[1], in_l1), l1),
        ),
        coupled=layer.coupled_dims,
        windows=windows_of(layer, box, padding_free),
        widths=machine.widths,
        dram=Port(dram_in, dram_out),
        lanes=Lanes(any=machine.chip.simd_lanes),
        rules=rules,
    )


def _with_room(level: NestLevel, buffer: Buffer) -> NestLevel:
    return replace(
        level,
        copies=buffer.copies,
        shared_bits=buffer.capacity_bits,
        own_bits=buffer.tensor_bits,
    )


def _three(parts: Iterable[Part]) -> tuple[Part, Part, Part]:
    a, b, c = parts
    return a, b, c


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


def named_counts(counts: dict[str, int], nest: Nest) -> dict[str, int]:
    """Counts of an execution by the names of `layout.COUNT_NAMES`, `BOUND_NAMES`, `WIDE_NAMES`."""

    def count(name: str) -> int:
        return counts.get(name, 0)

    found = {
        "macs": counts["macs"],
        "steps": count(f"steps/{L1}"),
        "outer_steps": count(f"steps/{L2}"),
        "active_pe_steps": count(f"active/{L1}"),
        "compute_cycles": counts["compute"],
        "latency": counts["stepwise" if nest.rules.stepwise else "bound"],
    }
    outer, _, inner = (level.keeps for level in nest.levels)
    for tensor, name in enumerate(_NAMES):
        below = L1 if inner[tensor] else MACS
        direct = 0 if outer[tensor] else count(_read(nest, tensor, L1))
        found[f"dram_{name}_direct"] = direct
        found[f"dram_{name}"] = direct + count(f"read/{tensor}/{L2}/0")
        found[f"l2r_{name}"] = count(f"read/{tensor}/{below}/{L2}") if outer[tensor] else 0
        found[f"l2r_{name}_tile"] = count(f"tiles/{tensor}/{below}") if outer[tensor] else 0
        found[f"l1w_{name}"] = count(f"fill/{tensor}/{L1}")
        found[f"l1_skipped_{name}"] = counts["macs"] if below == MACS else 0
    found |= _outputs(counts, outer[-1], inner[-1])
    for name, level in (("l2", L2), ("l1", L1)):
        held = peaks(counts, level)
        found[f"{name}_peak"] = sum(held)
    for port, q in (("noc", L2), ("dram", 0)):
        for way in ("in", "out"):
            found[f"{port}_{way}_cycles"] = count(f"busy/{q}/{way}")
    found["bound_compute"] = count("bind/compute")
    found["bound_noc_in"], found["bound_noc_out"] = count("bind/1/in"), count("bind/1/out")
    found["bound_dram"] = count("bind/0/in") + count("bind/0/out")
    return found


def _read(nest: Nest, tensor: int, level: int) -> str:
    """The count of what DRAM is read for: with whole tiles, that of all distinct tiles."""
    return f"tiles/{tensor}/{level}" if nest.rules.whole_tiles else f"read/{tensor}/{level}/0"


def _outputs(counts: dict[str, int], in_l2: bool, in_l1: bool) -> dict[str, int]:
    def count(name: str) -> int:
        return counts.get(name, 0)

    below = L1 if in_l1 else MACS
    direct, back = (0 if in_l2 else count(f"{way}/{L1}/0") for way in ("write", "refill"))
    return {
        "dram_out_w_direct": direct,
        "dram_out_r_direct": back,
        "dram_out_w": direct + count(f"write/{L2}/0"),
        "dram_out_r": back + count(f"refill/{L2}/0"),
        "l2w_out": count(f"write/{below}/{L2}") if in_l2 else 0,
        "l2w_out_tile": count(f"tiles/2/{below}") if in_l2 else 0,
        "l2r_psum": count(f"refill/{below}/{L2}") if in_l2 else 0,
        "l1drain_out": count(f"drain/{below}"),
        "l1_skipped_out": 0 if in_l1 else count(f"drain/{MACS}") + count(f"refill/{MACS}/{L2}"),
    }


def peaks(counts: dict[str, int], level: int) -> tuple[int, int, int]:
    """Elements of each tensor that an instance of a level holds at most."""
    a, b, c = (counts.get(f"peak/{tensor}/{level}", 0) for tensor in range(3))
    return a, b, c
