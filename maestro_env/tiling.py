"""What sits in which buffer at a mapping's first step: the numbers of a picture."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from itertools import product

from cost_models import Accelerator, Mapping
from layers import DIMS, NEST_DIMS, TENSORS, Layer

Ranges = dict[str, tuple[int, int]]
"""Axis of a tensor -> first index and the one after the last."""


@dataclass(frozen=True)
class BufferView:
    """What one tensor has in one level of buffers.

    Args:
        tensor: ``"input"``, ``"filter"`` or ``"output"``.
        frame: What the level's tiles are cut from: the whole tensor, or the tile of cluster 0.
        parts: What each holder has: clusters for L2, PEs of cluster 0 for L1. Holders without
            work are left out; equal parts (multicast) are listed once.
        holders: How many holders have work.
    """

    tensor: str
    frame: Ranges
    parts: tuple[Ranges, ...]
    holders: int


@dataclass(frozen=True)
class Tiling:
    """The buffers of a mapping at its first step, one :class:`BufferView` a tensor and level."""

    l2: tuple[BufferView, ...]
    l1: tuple[BufferView, ...]
    clusters: int
    cluster_size: int


def tiling(layer: Layer, accelerator: Accelerator, mapping: Mapping) -> Tiling:
    """Work out what the clusters and PEs hold at the first step of a mapping.

    Args:
        layer: The mapped layer.
        accelerator: Gives the number of PEs where the mapping does not.
        mapping: A mapping of the layer.

    Returns:
        The views of L2 (one part a cluster) and of L1 (one part a PE of cluster 0).
    """
    whole = {dim: (0, extent) for dim, extent in zip(DIMS, layer.extents, strict=True)}
    pes = mapping.num_pes if mapping.num_pes is not None else accelerator.num_pes
    size = min(mapping.cluster_size, pes)
    clusters = pes // size
    outer = _split(whole, mapping.tiles[0], _spread(mapping, 0, clusters))
    inner = _split(outer[0], mapping.tiles[1], _spread(mapping, 1, size))
    return Tiling(
        l2=tuple(_view(layer, tensor, whole, outer) for tensor in TENSORS),
        l1=tuple(_view(layer, tensor, outer[0], inner) for tensor in TENSORS),
        clusters=clusters,
        cluster_size=size,
    )


def _spread(mapping: Mapping, level: int, holders: int) -> dict[str, int]:
    """The dimensions that a level has in parallel, with the holders that each takes."""
    second, units = mapping.parallel2[level], mapping.units[level]
    if second is None or units is None:
        return {mapping.parallel[level]: holders}
    return {mapping.parallel[level]: units, second: holders // units}


def titled(found: Tiling, mapping: Mapping) -> list[tuple[str, tuple[BufferView, ...]]]:
    """The views of L2 and of L1, each with the title of its drawing."""
    clusters = f"L2: tiles of {found.clusters} clusters, {_in_parallel(mapping, 0)}"
    pes = f"L1: tiles of the {found.cluster_size} PEs of cluster 0, {_in_parallel(mapping, 1)}"
    return [(clusters, found.l2), (pes, found.l1)]


def _in_parallel(mapping: Mapping, level: int) -> str:
    second, units = mapping.parallel2[level], mapping.units[level]
    if second is None:
        return f"parallel over {mapping.parallel[level]}"
    return f"parallel over {mapping.parallel[level]} ({units} of them) and {second}"


def _split(frame: Ranges, tiles: dict[str, int], spread: dict[str, int]) -> list[Ranges]:
    """The first step's range of every holder that has work."""
    base = {
        dim: (low, min(high, low + tiles.get(dim, high - low)))
        for dim, (low, high) in frame.items()
    }
    places: list[list[Ranges]] = []
    for dim, holders in spread.items():
        low, high = frame[dim]
        tile = base[dim][1] - low
        places.append(
            [
                {dim: (low + i * tile, min(high, low + (i + 1) * tile))}
                for i in range(holders)
                if low + i * tile < high
            ]
        )
    return [base | dict(ChainMap(*found)) for found in product(*places)]


def _view(layer: Layer, tensor: str, frame: Ranges, holders: list[Ranges]) -> BufferView:
    parts = (tensor_ranges(layer, tensor, holder) for holder in holders)
    distinct = {tuple(part.items()): part for part in parts}
    frame = tensor_ranges(layer, tensor, frame)
    return BufferView(tensor, frame, tuple(distinct.values()), len(holders))


def tensor_ranges(layer: Layer, tensor: str, ranges: Ranges) -> Ranges:
    """The part of a tensor that a part of the loop nest touches.

    Args:
        layer: Gives strides, dilations and kind.
        tensor: One of `TENSORS`.
        ranges: Ranges of the loop dimensions, Y and X in output coordinates.

    Returns:
        Ranges of the tensor's axes; rows and columns of the input include the filter's reach.
    """
    coupled = [
        DIMS[d]
        for d in layer.coupled_dims[TENSORS.index(tensor)]
        if DIMS[d] in NEST_DIMS or layer.extents[d] > 1
    ]
    if tensor == "filter":
        return {dim: ranges[dim] for dim in coupled}
    rest = {dim: ranges[dim] for dim in coupled if dim not in "YXRS"}
    if tensor == "output":
        return {**rest, "rows": ranges["Y"], "columns": ranges["X"]}
    return {
        **rest,
        "rows": _reach(ranges["Y"], ranges["R"], layer.stride_y, layer.dilation_y),
        "columns": _reach(ranges["X"], ranges["S"], layer.stride_x, layer.dilation_x),
    }


def _reach(
    outputs: tuple[int, int], taps: tuple[int, int], stride: int, dilation: int
) -> tuple[int, int]:
    first = outputs[0] * stride + taps[0] * dilation
    return first, (outputs[1] - 1) * stride + (taps[1] - 1) * dilation + 1
