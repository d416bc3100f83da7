"""A mapping as loops that multiply up to the layer: what tools of whole factors take."""

from __future__ import annotations

import math
from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, replace

from cost_models import (
    CLUSTERS,
    Accelerator,
    Axis,
    Chain,
    ChainLevel,
    ChainMapping,
    Mapping,
    Spread,
    as_chain,
)
from layers import DIMS, TENSORS, Layer

MAC = "MAC"
TWO_LEVELS = {"L2": "Cluster", "cluster": "PE"}
"""What each of these levels feeds, on a chip of two."""


class ExportError(ValueError):
    """A mapping that another tool has no words for."""


@dataclass(frozen=True)
class Loops:
    """The loops that bring tiles to a level, the units that get them, and what they keep.

    Args:
        level: The level's name; `MAC` below the last one.
        order: Dimensions in the order of the loops in time, outermost first.
        steps: Iterations of the loop in time of each dimension.
        spreads: Units of the fan-out outside that work side by side, by dimension and axis.
        keeps: Tensors that the level keeps, in the order of ``layers.TENSORS``.
        tile: What one instance works on.
    """

    level: str
    order: tuple[str, ...]
    steps: MappingABC[str, int]
    spreads: tuple[Spread, ...]
    keeps: tuple[str, ...]
    tile: MappingABC[str, int]

    @property
    def in_time(self) -> list[tuple[str, int]]:
        """Loops in time of more than one iteration, outermost first."""
        return [(dim, self.steps[dim]) for dim in self.order if self.steps[dim] > 1]


@dataclass(frozen=True)
class LoopNest:
    """A mapping of a layer on a chip as whole factors.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        extents: What the factors multiply up to, for dimensions that a tensor depends on.
        levels: By entry of the mapping, outermost first; the MACs come last.
        fed: Names of what the levels feed, by level.
        macs: MACs of the chip, those that clusters leave out included.
    """

    layer: Layer
    chip: Chain
    mapping: ChainMapping
    extents: MappingABC[str, int]
    levels: tuple[Loops, ...]
    fed: MappingABC[str, str]
    macs: int

    def depends(self, tensor: int) -> list[str]:
        """The dimensions that a tensor (0 input, 1 filter, 2 output) depends on."""
        row = self.layer.coupling[tensor]
        return [dim for dim in self.extents if row[DIMS.index(dim)]]

    def kept(self, level: str) -> tuple[str, ...]:
        """The tensors that a memory keeps in any of its entries; DRAM keeps all."""
        found = {t for loops in self.levels if loops.level == level for t in loops.keeps}
        return tuple(t for t in TENSORS if t in found or level == "DRAM")

    def fanout(self, level: str) -> tuple[Axis, ...]:
        """The axes of a level's fan-out; none where its MACs take any work."""
        fanout = self.chip.levels[self.chip.position(level)].fanout
        return () if fanout.any else fanout.axes

    @property
    def inside(self) -> list[tuple[ChainLevel, Loops]]:
        """Each entry, and the MACs, with the level outside that brings it its tiles."""
        names = ["DRAM", *(loops.level for loops in self.levels)]
        outside = (self.chip.levels[self.chip.position(name)] for name in names[:-1])
        return list(zip(outside, self.levels, strict=True))

    def check_shared(self, tool: str) -> None:
        """Refuse units that want the same and do not share it, for a tool where all do.

        Raises:
            ExportError: There are some.
        """
        for level, spread, tensor in self.unshared():
            raise ExportError(
                f"levels.{level}.fanout: in {tool} all units share reads and sums; here those "
                f"along {spread.dim} on axis {spread.axis} do not share {tensor}; give multicast "
                "and reduce, or --to accelforge"
            )

    def unshared(self) -> list[tuple[str, Spread, str]]:
        """Levels, units and tensors where units that want the same share no read, or no sum."""
        return [
            (outside.name, spread, tensor)
            for outside, loops in self.inside
            for spread in loops.spreads
            for place, tensor in enumerate(TENSORS)
            if spread.dim not in self.depends(place)
            and not outside.fanout.axes[spread.axis][3 if tensor == "output" else 2]
        ]


def loop_nest(
    layer: Layer, chip: Accelerator | Chain, mapping: Mapping | ChainMapping, *, pad: bool = False
) -> LoopNest:
    """Cut a layer as a mapping does.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        pad: Whether a tile that does not divide makes the exported dimension larger.

    Raises:
        ExportError: The mapping does not fit the chip's PEs, or a tile does not divide and `pad`
            is not set.
        MappingError: It is a mapping of another chip.
    """
    if isinstance(chip, Chain) and isinstance(mapping, ChainMapping):
        chain, entries = chip, mapping
        fed = {level.name: f"{level.name}_units" for level in chip.levels}
        _check_names(chip, fed)
        macs = chip.peak_macs_per_cycle
    elif isinstance(chip, Accelerator) and isinstance(mapping, Mapping):
        chain, entries = _two_levels(layer, chip, mapping)
        fed, macs = TWO_LEVELS, chip.num_pes * chip.simd_lanes
    else:
        raise ExportError(
            "mapping: an entry for each level goes with a list of levels, and orders, parallel, "
            "tiles and cluster_size with a chip of L2 and L1; give a mapping of this chip"
        )
    cut = _cut(layer, chain, entries)
    extents = {
        dim: math.prod(
            loops.steps[dim] * math.prod(s.units or 1 for s in loops.spreads if s.dim == dim)
            for loops in cut
        )
        for dim in cut[-1].tile
    }
    for dim, wide in extents.items():
        had = layer.extents[DIMS.index(dim)]
        if wide != had and not pad:
            raise ExportError(
                f"mapping: the tiles of {dim} cover {wide}, the layer has {had}, and this "
                "tool takes whole factors alone; add --pad to export the larger layer, or give a "
                "mapping whose tiles and PEs divide"
            )
    return LoopNest(layer, chain, entries, extents, tuple(cut), fed, macs)


def _check_names(chip: Chain, fed: MappingABC[str, str]) -> None:
    """Files of tools name more than a chip's levels: what a level feeds, a tensor's own memory."""
    names = {level.name for level in chip.levels}
    parts = {f"{name}_{tensor}" for name in names for tensor in TENSORS}
    for name in sorted(names & {"system", "chip", "All", "Nothing", *fed.values(), *parts}):
        raise ExportError(
            f"levels.{name}.name: the tools' files have another part of this name; rename the level"
        )


def _two_levels(layer: Layer, chip: Accelerator, mapping: Mapping) -> tuple[Chain, ChainMapping]:
    pes = chip.num_pes if mapping.num_pes is None else mapping.num_pes
    if pes < mapping.cluster_size:
        raise ExportError(
            f"mapping: a cluster of {mapping.cluster_size} PEs is more than the chip's {pes}"
        )
    chain, entries = as_chain(chip, mapping, layer)
    levels = (replace(one, name=_renamed(one.name)) for one in chain.levels)
    own = (replace(one, level=_renamed(one.level)) for one in entries.entries)
    return replace(chain, levels=tuple(levels)), ChainMapping(tuple(own))


def _renamed(level: str) -> str:
    return "cluster" if level == CLUSTERS else level


def _cut(layer: Layer, chip: Chain, mapping: ChainMapping) -> list[Loops]:
    """The loops of each entry, and of the MACs, in the dimensions that a tensor depends on."""
    size = {
        dim: extent
        for place, (dim, extent) in enumerate(zip(DIMS, layer.extents, strict=True))
        if any(row[place] for row in layer.coupling) and (extent > 1 or dim not in "NG")
    }
    found: list[Loops] = []
    order: tuple[str, ...] = ()
    spreads: tuple[Spread, ...] = ()
    for entry in (*(entry for entry, _, _ in mapping.resolved(chip)), None):
        units = {dim: math.prod(s.units or 1 for s in spreads if s.dim == dim) for dim in size}
        tile = {
            dim: 1 if entry is None else min(entry.tiles.get(dim, -(-n // units[dim])), n)
            for dim, n in size.items()
        }
        steps = {dim: -(-n // (tile[dim] * units[dim])) for dim, n in size.items()}
        keeps = () if entry is None else tuple(t for t in TENSORS if t in (entry.keeps or ()))
        if entry is not None and (not order or keeps or max(steps.values()) > 1):
            order = tuple(dim for dim in entry.order if dim in size)
        name = MAC if entry is None else entry.level
        found.append(Loops(name, order, steps, _used(spreads, size, tile), keeps, tile))
        size, spreads = tile, () if entry is None else entry.parallel
    return found


def _used(
    spreads: tuple[Spread, ...], size: MappingABC[str, int], tile: MappingABC[str, int]
) -> tuple[Spread, ...]:
    """The units that have work."""
    found = []
    for place, spread in enumerate(spreads):
        if spread.dim in size:
            inner = math.prod(s.units or 1 for s in spreads[place + 1 :] if s.dim == spread.dim)
            most = -(-size[spread.dim] // (tile[spread.dim] * inner))
            found.append(spread._replace(units=min(spread.units or 1, most)))
    return tuple(found)
