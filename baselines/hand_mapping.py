"""What an expert writes down for a dataflow: array, loop order, the largest tiles that fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cost_models import Buffer, Mapping
from layers import DIMS, TENSORS, Layer, footprint
from maestro_env import MapSpace, NamedDataflow

Tiles = dict[str, int]
WINDOW = "YXRS"
"""Dimensions of which an input tile spans a window."""


def hand_mapping(space: MapSpace, dataflow: NamedDataflow, shrink: int = 1) -> Mapping | None:
    """The mapping of a dataflow with the largest tiles that fit.

    Clusters and PEs get work first. Then the tiles of L2, and after them those of L1, grow by one
    choice at a time, all in turn, until none fits: first along the dimensions of the tensor that
    stays, then along the others.

    Args:
        space: A space that holds this dataflow's mappings only, see :class:`MapSpace`.
        dataflow: The dataflow.
        shrink: Buffers count as this many times smaller.

    Returns:
        A mapping of the space, or None where its smallest tiles do not fit.
    """
    draft = _Draft(space, dataflow, shrink)
    return draft.mapping() if draft.grow() else None


@dataclass(frozen=True)
class _Level:
    """Choices of the tiles of one level, ascending, and the buffer they must fit."""

    choices: dict[str, tuple[int, ...]]
    buffer: Buffer
    bits: tuple[int, int, int]
    shrink: int

    def fits(self, layer: Layer, held: Tiles) -> bool:
        """Whether the buffer holds the tensors of a tile."""
        sizes = [
            copies * bits * elements * self.shrink
            for copies, bits, elements in zip(
                self.buffer.copies, self.bits, tensor_elements(layer, held), strict=True
            )
        ]
        own = zip(sizes, self.buffer.tensor_bits, self.buffer.holds, strict=True)
        if any(held and limit is not None and size > limit for size, limit, held in own):
            return False
        shared = sum(s for s, here in zip(sizes, self.buffer.sharing, strict=True) if here)
        return self.buffer.capacity_bits is None or shared <= self.buffer.capacity_bits

    def reaching(self, dim: str, size: int) -> int:
        """The smallest tile that is not below a size, or the largest there is."""
        choices = self.choices[dim]
        return next((tile for tile in choices if tile >= size), choices[-1])


class _Draft:
    """A mapping while its tiles grow."""

    def __init__(self, space: MapSpace, dataflow: NamedDataflow, shrink: int) -> None:
        self.layer, self.dataflow, self.space = space.layer, dataflow, space
        self.extents = dict(zip(DIMS, space.layer.extents, strict=True))
        chosen = {parameter.name: parameter.choices for parameter in space.parameters}
        self.parallel = [
            dataflow.parallel(level, map(str, chosen[f"{prefix}_parallel"]))
            or str(chosen[f"{prefix}_parallel"][0])
            for level, prefix in enumerate(("outer", "inner"))
        ]
        sizes = tuple(map(int, chosen["cluster_size"]))
        self.cluster_size = dataflow.cluster_size(space.layer, sizes, space.accelerator.num_pes)
        self.clusters = space.accelerator.num_pes // self.cluster_size
        widths = space.accelerator.widths
        bits = widths.input, widths.filter, widths.psum
        self.levels = [
            _Level(_tile_choices(space, level), buffer, bits, shrink)
            for level, buffer in enumerate(space.accelerator.buffers())
        ]
        fixed = self.extents | {d: 1 for d in "NG" if d not in self.levels[0].choices}
        self.tiles = [
            fixed | {dim: tiles[0] for dim, tiles in level.choices.items()} for level in self.levels
        ]

    def mapping(self) -> Mapping:
        """The mapping as it stands."""
        outside = self.dataflow.outside(self.layer)
        lead = "".join(d for d in "NG" if d not in self.levels[0].choices)
        rest = [dim for dim in DIMS if dim not in lead]
        order = lead + "".join(sorted(rest, key=lambda dim: dim not in outside))
        outer, inner = self.parallel
        tiles = self.tiles[0], self.tiles[1]
        return Mapping((order, order), (outer, inner), tiles, self.cluster_size)

    def grow(self) -> bool:
        """Make the tiles as large as fits; False where the smallest do not fit."""
        if not (self._fits(0, self.tiles[0]) and self._fits(1, self.tiles[1])):
            return False
        outer, inner = self.parallel
        most = {outer: math.ceil(self.extents[outer] / self.clusters)}
        if inner != outer:
            self._try(0, inner, self.levels[0].reaching(inner, self.cluster_size))
        self._grow_level(0, most)
        most = dict(self.tiles[0])
        most[inner] = math.ceil(self.tiles[0][inner] / self.cluster_size)
        self._grow_level(1, most)
        return True

    def _grow_level(self, level: int, most: Tiles) -> None:
        outside = self.dataflow.outside(self.layer)
        choices = self.levels[level].choices
        for stays in (True, False):
            phase = [dim for dim in choices if (dim in outside) == stays]
            while sum(self._step(level, dim, most) for dim in phase):
                continue  # each in turn, until none has grown

    def _step(self, level: int, dim: str, most: Tiles) -> bool:
        """Take the next larger tile of a dimension if it is of use and fits."""
        tile = self.tiles[level][dim]
        larger = self.levels[level].reaching(dim, tile + 1)
        if tile >= most.get(dim, self.extents[dim]) or larger <= tile:
            return False
        return self._try(level, dim, larger)

    def _try(self, level: int, dim: str, tile: int) -> bool:
        tiles = self.tiles[level] | {dim: tile}
        if tile > self.tiles[0].get(dim, tile) and level == 1:
            return False
        if not self._fits(level, tiles):
            return False
        self.tiles[level] = tiles
        return True

    def _fits(self, level: int, tiles: Tiles) -> bool:
        held = tiles
        if level == 0:
            outer = self.parallel[0]
            held = tiles | {outer: min(self.extents[outer], tiles[outer] * self.clusters)}
        return self.levels[level].fits(self.layer, held)


def tensor_elements(layer: Layer, held: Tiles) -> tuple[int, int, int]:
    """Elements of input, filter and output that a box of the loop nest touches."""
    sizes = []
    for tensor, dims in zip(TENSORS, layer.coupled_dims, strict=True):
        window = WINDOW if tensor == "input" else ""
        sizes.append(math.prod(held[DIMS[d]] for d in dims if DIMS[d] not in window))
    sizes[0] *= footprint(held["Y"], held["R"], layer.stride_y, layer.dilation_y)
    sizes[0] *= footprint(held["X"], held["S"], layer.stride_x, layer.dilation_x)
    return sizes[0], sizes[1], sizes[2]


def _tile_choices(space: MapSpace, level: int) -> dict[str, tuple[int, ...]]:
    tiles = (p for p in space.parameters if p.kind == "tile" and p.level == level)
    return {p.dim: tuple(map(int, p.choices)) for p in tiles}
