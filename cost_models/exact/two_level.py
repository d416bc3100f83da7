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
from cost_models.lowering import clipped
from cost_models.mapping import Mapping
from layers import DIMS, TENSORS, Layer

Part = TypeVar("Part")


def nest_of(
    layer: Layer,
    machine: Machine,
    mapping: Mapping,
    rules: Rules,
    *,
    box: bool = False,
    padding_free: bool = False,
    resident: tuple[bool, bool, bool] = (False, False, False),
) -> Nest:
    """The loop nest of a mapping: tiles clipped to the extents, inner ones to outer ones.

    Args:
        layer: The layer.
        machine: The chip.
        mapping: A mapping whose units the chip has.
        rules: How it is counted.
        box: Whether input tiles hold the rows and columns between those that they touch.
        padding_free: Whether padding is no traffic.
        resident: Whether input, filter and output are whole in L2.
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
    in_l2, in_l1 = (
        _three(tensor not in part for tensor in TENSORS) for part in machine.passes(mapping.bypass)
    )
    l2, l1 = machine.buffers
    return Nest(
        extents=extents,
        levels=(
            _with_room(
                NestLevel(tuple(span), ONE, orders[0], in_l2, port=Port(l1.read_bw, l1.write_bw)),
                l2,
            ),
            NestLevel(outer, clusters, keeps=(False,) * 3, port=None),
            _with_room(NestLevel(inner, pes, orders[1], in_l1), l1),
        ),
        coupled=layer.coupled_dims,
        windows=windows_of(layer, box, padding_free),
        widths=machine.widths,
        dram=Port(l2.read_bw, l2.write_bw),
        lanes=Lanes(any=machine.chip.simd_lanes),
        rules=rules,
        resident=resident,
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
    """Counts of an execution by the names of `names.COUNT_NAMES`, `BOUND_NAMES`, `WIDE_NAMES`."""

    def n(name: str) -> int:
        return counts.get(name, 0)

    in_l2, _, in_l1 = (level.keeps for level in nest.levels)
    found = {
        "macs": n("macs"),
        "steps": n(f"steps/{L1}"),
        "outer_steps": n(f"steps/{L2}"),
        "active_pe_steps": n(f"active/{L1}"),
        "compute_cycles": n("compute"),
        "latency": n("stepwise") + n("bound"),
        "bound_compute": n("bind/compute"),
        "bound_noc_in": n(f"bind/{L2}/in"),
        "bound_noc_out": n(f"bind/{L2}/out"),
        "bound_dram": n("bind/0/in") + n("bind/0/out"),
        "noc_in_cycles": n(f"busy/{L2}/in"),
        "noc_out_cycles": n(f"busy/{L2}/out"),
        "dram_in_cycles": n("busy/0/in"),
        "dram_out_cycles": n("busy/0/out"),
        "l2_peak": sum(peaks(counts, L2)),
        "l1_peak": sum(peaks(counts, L1)),
    }
    # DRAM is read for L1 directly: with whole tiles, all distinct ones count
    past = "tiles/{}/{}" if nest.rules.whole_tiles else "read/{}/{}/0"
    for tensor, name in enumerate(("in", "fil")):
        below = L1 if in_l1[tensor] else MACS
        direct = 0 if in_l2[tensor] else n(past.format(tensor, L1))
        found[f"dram_{name}_direct"] = direct
        crossing = direct + n(f"read/{tensor}/{L2}/0")
        found[f"dram_{name}"] = crossing * (not nest.resident[tensor])
        found[f"l2r_{name}"] = n(f"read/{tensor}/{below}/{L2}") * in_l2[tensor]
        found[f"l2r_{name}_tile"] = n(f"tiles/{tensor}/{below}") * in_l2[tensor]
        found[f"l1w_{name}"] = n(f"fill/{tensor}/{L1}")
        found[f"l1_skipped_{name}"] = n("macs") * (below == MACS)
    *_, kept = in_l2
    below = L1 if in_l1[-1] else MACS
    for name, way in (("w", "write"), ("r", "refill")):
        found[f"dram_out_{name}_direct"] = direct = n(f"{way}/{L1}/0") * (not kept)
        crossing = direct + n(f"{way}/{L2}/0")
        found[f"dram_out_{name}"] = crossing * (not nest.resident[-1])
    return found | {
        "l2w_out": n(f"write/{below}/{L2}") * kept,
        "l2w_out_tile": n(f"tiles/2/{below}") * kept,
        "l2r_psum": n(f"refill/{below}/{L2}") * kept,
        "l1drain_out": n(f"drain/{below}"),
        "l1_skipped_out": (n(f"drain/{MACS}") + n(f"refill/{MACS}/{L2}")) * (below == MACS),
    }


def peaks(counts: dict[str, int], level: int) -> tuple[int, int, int]:
    """Elements of each tensor that an instance of a level holds at most."""
    return _three(counts.get(f"peak/{tensor}/{level}", 0) for tensor in range(3))
