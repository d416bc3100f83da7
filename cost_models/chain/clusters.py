"""A chip of L2 and L1, and a mapping of one, as a chain whose clusters hold nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from cost_models.buffers import LEVELS, Chip, Level, Wires
from cost_models.chain.chip import Axis, Chain, ChainLevel, Fanout
from cost_models.chain.entries import ChainMapping, Entry, Spread
from cost_models.prices import PJ_PER_NJ, chip_prices
from layers import DIMS, TENSORS, Layer

if TYPE_CHECKING:
    from cost_models.accelerator import Accelerator
    from cost_models.mapping import Mapping

CLUSTERS = "clusters"


@lru_cache(maxsize=64)
def to_levels(chip: Accelerator, cluster_size: int | None = None) -> Chain:
    """The chain of a chip: L2 feeds clusters of PEs, or all PEs where none are given.

    The last chips' are kept, with the prices that a chain keeps.

    Args:
        chip: The chip.
        cluster_size: PEs of a cluster, which mappings of two levels choose.
    """
    dram, l2, l1 = (
        ChainLevel(
            **{item.name: getattr(level, item.name) for item in fields(Level)},
            name=name,
            shared_bytes=shared,
        )
        for name, level, shared in zip(
            LEVELS, chip.levels, (None, chip.l2_bytes, chip.l1_bytes), strict=True
        )
    )
    (in_l2, in_l1) = chip.buffers()
    dram = replace(dram, read_bw=in_l2.read_bw, write_bw=in_l2.write_bw)
    l2 = replace(l2, read_bw=in_l1.read_bw, write_bw=in_l1.write_bw)
    if cluster_size is None:
        middle = [replace(l2, fanout=Fanout((Axis(chip.num_pes),)))]
    else:
        middle = [
            replace(l2, network=Wires(), fanout=Fanout((Axis(chip.num_pes // cluster_size),))),
            ChainLevel(
                name=CLUSTERS,
                holds=(False,) * 3,
                network=_to_pes(chip),
                fanout=Fanout((Axis(cluster_size),)),
            ),
        ]
    if chip.simd_lanes > 1:
        l1 = replace(l1, fanout=Fanout((Axis(chip.simd_lanes),), any=True))
    known = {item.name: getattr(chip, item.name) for item in fields(Chip)}
    return Chain((dram, *middle, l1), **known)


def _to_pes(chip: Accelerator) -> Wires:
    """The wires to the PEs of clusters: as long as those of the whole array."""
    network = chip.levels[1].network
    if not network.pj_per_bit_mm:
        return network
    bit = chip_prices(chip).noc.input * PJ_PER_NJ / chip.widths.input
    return Wires(bit, 0.0, network.um2_per_bit)


def two_levels_of(chain: Chain) -> Accelerator | None:
    """The chip whose levels :func:`to_levels` gives without clusters; None where there is none."""
    from cost_models.accelerator import Accelerator, AcceleratorError

    if tuple(level.name for level in chain.levels) != LEVELS:
        return None
    _, l2, l1 = chain.levels
    kept = [item.name for item in fields(Level)]
    known = [Level(**{name: getattr(level, name) for name in kept}) for level in chain.levels]
    try:
        chip = Accelerator(
            l2.fanout.units,
            l1.shared_bytes,
            l2.shared_bytes,
            simd_lanes=chain.lanes,
            levels=(known[0], known[1], known[2]),
            **{item.name: getattr(chain, item.name) for item in fields(Chip)},
        )
    except AcceleratorError:
        return None
    return chip if to_levels(chip) == chain else None


def as_chain(chip: Accelerator, mapping: Mapping, layer: Layer) -> tuple[Chain, ChainMapping]:
    """The chain of a chip under a mapping of two levels, and that mapping's entries on it."""
    pes = chip.num_pes if mapping.num_pes is None else mapping.num_pes
    chain = to_levels(replace(chip, num_pes=pes), mapping.cluster_size)
    l2, clusters, l1 = entries_of(mapping, layer, pes)
    holds = [
        frozenset(tensor for tensor, held in zip(TENSORS, buffer.holds, strict=True) if held)
        for buffer in chip.buffers()
    ]
    kept = [
        replace(entry, keeps=(entry.keeps or held) & held)
        for entry, held in zip((l2, l1), holds, strict=True)
    ]
    return chain, ChainMapping((kept[0], clusters, kept[1]))


def without_clusters(chip: Accelerator, mapping: Mapping, layer: Layer) -> ChainMapping:
    """A mapping of two levels on the chip's levels themselves, with as many PEs side by side.

    Tiles of L2, which clusters multiply, become the smallest of which there are as many.
    """
    l2, clusters, l1 = as_chain(chip, mapping, layer)[1].entries
    units = Counter[str]()
    for spread in (*l2.parallel, *clusters.parallel):
        units[spread.dim] = max(units[spread.dim], 1) * (spread.units or 1)
    spreads = tuple(Spread(dim, count) for dim, count in units.items())
    extents = dict(zip(DIMS, layer.extents, strict=True))
    even = {d: -(-extents[d] // -(-extents[d] // tile)) for d, tile in l2.tiles.items()}
    return ChainMapping((replace(l2, tiles=even, parallel=spreads), l1))


def entries_of(mapping: Mapping, layer: Layer, pes: int | None) -> tuple[Entry, Entry, Entry]:
    """The entries of L2, of clusters, and of L1; without `pes` all clusters have work."""
    outer, inner = (
        {d: min(tiles.get(d, n), n) for d, n in zip(DIMS, layer.extents, strict=True)}
        for tiles in mapping.tiles
    )
    sizes = dict(zip(DIMS, layer.extents, strict=True))
    needed = -(-sizes[mapping.parallel[0]] // outer[mapping.parallel[0]])
    counts = (needed if pes is None else pes // mapping.cluster_size, mapping.cluster_size)
    clusters, units = (spreads_of(mapping, level, count) for level, count in enumerate(counts))
    span = dict(outer)
    for spread in clusters:
        span[spread.dim] = outer[spread.dim] * (spread.units or 1)
    kept = [frozenset(TENSORS) - gone for gone in mapping.bypass]
    return (
        Entry("L2", span, mapping.orders[0], clusters, kept[0]),
        Entry(CLUSTERS, outer, DIMS, units),
        Entry("L1", inner, mapping.orders[1], (), kept[1]),
    )


def spreads_of(mapping: Mapping, level: int, count: int) -> tuple[Spread, ...]:
    """What `count` units of a level work side by side on."""
    first, second, units = mapping.parallel[level], mapping.parallel2[level], mapping.units[level]
    if second is None or units is None:
        return (Spread(first, count),)
    return Spread(first, units), Spread(second, count // units)
