"""A mapping as loop bounds that multiply up to the layer: what tools of perfect factors take."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from dataclasses import dataclass

from cost_models import Accelerator, Mapping
from layers import DIMS, Layer


class ExportError(ValueError):
    """A mapping that another tool has no words for."""


@dataclass(frozen=True)
class Bounds:
    """How one dimension is cut, outermost first: the product is the dimension's extent.

    Args:
        outer: Steps of the outer level, DRAM to L2.
        clusters: Clusters that share a step.
        inner: Steps of the inner level, L2 to the PEs.
        pes: PEs of a cluster that share a step.
        tile: What a PE holds.
    """

    outer: int
    clusters: int
    inner: int
    pes: int
    tile: int

    @property
    def extent(self) -> int:
        """All of it."""
        return self.outer * self.clusters * self.inner * self.pes * self.tile


@dataclass(frozen=True)
class LoopFactors:
    """A mapping of a layer on a chip as loop bounds.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        bounds: By dimension, for those that a tensor depends on.
        clusters: Clusters that the chip is divided into.
        padded: Dimensions whose bounds multiply up to more than the layer has, and to what.
    """

    layer: Layer
    chip: Accelerator
    mapping: Mapping
    bounds: MappingABC[str, Bounds]
    clusters: int
    padded: MappingABC[str, int]

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions, in the order of ``layers.DIMS``."""
        return tuple(self.bounds)

    def order(self, level: int) -> list[str]:
        """The dimensions in the loop order of a level, outermost first."""
        return [dim for dim in self.mapping.orders[level] if dim in self.bounds]

    def depends(self, tensor: int) -> list[str]:
        """The dimensions that a tensor (0 input, 1 filter, 2 output) depends on."""
        row = self.layer.coupling[tensor]
        return [dim for dim in self.dims if row[DIMS.index(dim)]]


def factors_of(
    layer: Layer, chip: Accelerator, mapping: Mapping, *, pad: bool = False
) -> LoopFactors:
    """Cut a layer as a mapping does.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: One parallel dimension a level, every tensor in every level.
        pad: Whether a tile that does not divide makes the exported dimension larger.

    Raises:
        ExportError: The mapping has a second parallel dimension or a bypass, does not fit the
            chip's PEs, or a tile does not divide and `pad` is not set.
    """
    if mapping.parallel2 != (None, None) or any(mapping.bypass):
        raise ExportError(
            "mapping: two parallel dimensions a level and bypassed levels are not exported; "
            "search without --space full"
        )
    pes = chip.num_pes if mapping.num_pes is None else mapping.num_pes
    clusters = pes // mapping.cluster_size
    if clusters == 0:
        raise ExportError(
            f"mapping: a cluster of {mapping.cluster_size} PEs is more than the chip's {pes}"
        )
    bounds, padded = {}, {}
    coupled = [any(row[place] for row in layer.coupling) for place in range(len(DIMS))]
    for place, dim in enumerate(DIMS):
        extent = layer.extents[place]
        if not coupled[place] or (extent == 1 and dim in "NG"):
            continue
        bounds[dim] = _cut(dim, extent, mapping, clusters)
        if bounds[dim].extent != extent:
            padded[dim] = bounds[dim].extent
    if padded and not pad:
        dim, wide = next(iter(padded.items()))
        had = layer.extents[DIMS.index(dim)]
        raise ExportError(
            f"mapping: the tiles of {dim} cover {wide}, the layer has {had}, and this tool takes "
            "whole factors alone; add --pad to export the larger layer, or give a mapping whose "
            "tiles and PEs divide"
        )
    return LoopFactors(layer, chip, mapping, bounds, clusters, padded)


def _cut(dim: str, extent: int, mapping: Mapping, clusters: int) -> Bounds:
    outer_tile = min(mapping.tiles[0].get(dim, extent), extent)
    inner_tile = min(mapping.tiles[1].get(dim, outer_tile), outer_tile)
    outer, wide = _steps(extent, outer_tile, clusters if mapping.parallel[0] == dim else 1)
    inner, narrow = _steps(
        outer_tile, inner_tile, mapping.cluster_size if mapping.parallel[1] == dim else 1
    )
    return Bounds(outer, wide, inner, narrow, inner_tile)


def _steps(extent: int, tile: int, units: int) -> tuple[int, int]:
    """Steps over an extent, and the units that share a step."""
    tiles = -(-extent // tile)
    return -(-tiles // units), min(units, tiles)
