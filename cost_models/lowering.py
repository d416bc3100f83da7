"""From mappings to MAESTRO's directives and back.

A tile of t output rows is written ``Y'(u,u)`` with u = (t - 1) * stride + 1: MAESTRO counts
outputs as if the stride were 1, and u is the unstrided extent that t strided rows span.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cost_models.dataflow import (
    CLUSTER,
    Dataflow,
    DataflowError,
    Directive,
    dimensions,
    language_kind,
    size_of,
)
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from layers import DIMS, NEST_DIMS, Layer, LayerKind

if TYPE_CHECKING:
    from cost_models.mapping import Mapping as NestMapping

_OUTPUT_AXES = {"Y": "Y'", "X": "X'"}
_GEMM_DIMS = {"M": "Y", "N": "K", "K": "C"}

LEVELS = ("outer", "inner")
"""The levels of a mapping: over clusters, and over the PEs of a cluster."""
REPEATED: str = "".join(dim for dim in DIMS if dim not in NEST_DIMS)
"""Dimensions that repeat the whole nest where a mapping says nothing of them."""

Tiles = Mapping[str, int]


def lowered(mapping: NestMapping, layer: Layer | None) -> Dataflow:
    """Lower a mapping; see :meth:`cost_models.Mapping.dataflow`."""
    directives: list[Directive] = []
    whole: Sequence[Tiles] = mapping.tiles
    if layer is not None:
        tiles = clipped(mapping.tiles, layer.extents)
        whole = [dict(zip(DIMS, level, strict=True)) for level in tiles]
    for level, order in enumerate(mapping.orders):
        if level == 1:
            directives.append(Directive(CLUSTER, str(mapping.cluster_size), "P"))
        if layer is not None and layer.depthwise and mapping.parallel[level] == "K":
            raise MappingError(
                f"mapping.parallel[{level}]: got 'K', but layer {layer.name!r} is "
                "depthwise and has no K to spread; choose C, Y or X"
            )
        for place, dim in enumerate(order):
            spatial = dim == mapping.parallel[level]
            outermost = set(order[:place]).isdisjoint(NEST_DIMS)
            if spatial or not _unsaid(dim, level, whole, layer, outermost):
                size = _written_size(dim, whole[level].get(dim), layer)
                kind = "SpatialMap" if spatial else "TemporalMap"
                directives.append(Directive(kind, size, size, _OUTPUT_AXES.get(dim, dim)))
    return Dataflow(tuple(directives))


def _unsaid(
    dim: str, level: int, tiles: Sequence[Tiles], layer: Layer | None, outermost: bool
) -> bool:
    """Whether a temporal loop needs no directive.

    K of a depthwise layer has none. N and G have none where they do not iterate, and where they
    repeat the nest at a tile of 1 and the language has no such dimension (a GEMM), or nobody knows
    whether it has (no layer).
    """
    if dim in NEST_DIMS:
        return dim == "K" and layer is not None and layer.depthwise
    tile = tiles[level].get(dim)
    if level == 1:
        return tile == tiles[0].get(dim) or tiles[0].get(dim) == 1
    if layer is not None and layer.extents[DIMS.index(dim)] == 1:
        return True
    speechless = layer is None or layer.kind is LayerKind.GEMM
    return speechless and outermost and tile == 1


def clipped(tiles: Sequence[Tiles], extents: Sequence[int]) -> list[tuple[int, ...]]:
    """Tiles of each level in the order of `DIMS`, clipped to what they tile."""
    found = [tuple(extents)]
    for level in tiles:
        parts = zip(DIMS, found[-1], strict=True)
        found.append(tuple(min(level.get(dim, n), n) for dim, n in parts))
    return found[1:]


def _written_size(dim: str, tile: int | None, layer: Layer | None) -> str:
    if tile is None:
        if dim in _OUTPUT_AXES:
            raise MappingError(
                f"mapping.tiles: {dim} is missing; give it, or give the layer to dataflow()"
            )
        return f"Sz({dim})"
    return str((tile - 1) * _strides(layer).get(dim, 1) + 1)


def _strides(layer: Layer | None) -> dict[str, int]:
    return {} if layer is None else {"Y": layer.stride_y, "X": layer.stride_x}


def raised(dataflow: Dataflow, layer: Layer) -> dict[str, Any]:
    """Read the fields of a mapping; see :meth:`cost_models.Mapping.from_dataflow`.

    A level that leaves a dimension out takes it from the level above, as MAESTRO does, and from the
    layer at the top; N and G then repeat the nest.
    """
    levels = dataflow.levels
    if len(levels) > 2:
        raise _refused(layer, f"it has {len(levels)} levels and a mapping has two")
    kind = language_kind(layer, dataflow)
    sizes = dimensions(layer, kind)
    limit = dict(zip(DIMS, layer.extents, strict=True))
    orders: list[str] = []
    parallel: list[str] = []
    tiles: list[dict[str, int]] = []
    for number, level in enumerate(levels):
        tile: dict[str, int] = {}
        spatial = []
        for directive in level:
            dim, count = _read_tile(directive, layer, kind, sizes)
            if dim in tile:
                raise _refused(layer, f"its level {LEVELS[number]} maps {dim} twice")
            tile[dim] = min(count, limit[dim])
            spatial += [dim] * (directive.kind == "SpatialMap")
        if len(spatial) != 1:
            found = f"{len(spatial)} dimensions ({', '.join(spatial) or 'none'})"
            why = f"its {LEVELS[number]} level spreads {found} and needs exactly one"
            raise _refused(layer, why)
        orders.append(_completed(list(tile), orders[-1] if orders else DIMS))
        if not tiles:
            tile = {**dict.fromkeys(REPEATED, 1), **tile}
        limit = {dim: tile.get(dim, n) for dim, n in limit.items()}
        parallel.append(spatial[0])
        tiles.append(limit)
    cluster_size = _value(dataflow.clusters[0].size, sizes, layer) if len(levels) == 2 else 1
    if len(levels) == 1:
        orders, parallel, tiles = orders * 2, parallel * 2, tiles * 2
    return {"orders": orders, "parallel": parallel, "tiles": tiles, "cluster_size": cluster_size}


def _completed(order: Sequence[str], above: Sequence[str]) -> str:
    """A level's order with the dimensions it leaves out, which do not iterate, or repeat the rest.

    Args:
        order: Dimensions that the level maps, outermost first.
        above: The order of the level above, or all dimensions.
    """
    split = next((i for i, d in enumerate(order) if d in NEST_DIMS), len(order))
    lead, rest = [*order[:split]], order[split:]
    repeated = [dim for dim in REPEATED if dim not in order]
    if repeated:
        lead = sorted(lead + repeated, key=DIMS.index)
    return "".join([*lead, *(d for d in above if d not in order and d in NEST_DIMS), *rest])


def _read_tile(
    directive: Directive, layer: Layer, kind: LayerKind, sizes: dict[str, int]
) -> tuple[str, int]:
    """The mapping dimension of a directive and its tile, Y and X in output coordinates."""
    size = _value(directive.size, sizes, layer)
    offset = _value(directive.offset, sizes, layer)
    dim = _GEMM_DIMS.get(directive.dim, "?") if kind is LayerKind.GEMM else directive.dim
    if dim.rstrip("'") not in tuple(DIMS) or (dim.endswith("'") and dim[0] not in "YX"):
        raise _refused(layer, f"it maps {directive.dim!r}, which a {kind} does not have")
    count, step = size, size
    strides = _strides(layer)
    if dim.endswith("'"):
        count, dim = math.ceil(size / strides[dim[0]]), dim[0]
    elif dim in "YX" and kind is not LayerKind.GEMM:
        reach = layer.reach_y if dim == "Y" else layer.reach_x
        count = (size + strides[dim] - reach) // strides[dim]
        step = count * strides[dim]
    if count < 1 or step != offset:
        text = str(directive).rstrip(";")
        raise _refused(layer, f"{text} is not a partition: expected an offset of {max(step, 1)}")
    return dim, count


def _value(text: str, sizes: dict[str, int], layer: Layer) -> int:
    try:
        value = size_of(text, sizes)
    except DataflowError as error:
        raise _refused(layer, str(error)) from error
    if value < 1:
        raise _refused(layer, f"size {text!r} is {value}, expected at least 1")
    return value


def _refused(layer: Layer, why: str) -> InfeasibleError:
    message = f"layer {layer.name!r}: the dataflow is not a partition of the MACs: {why}"
    lever = "Give every dimension equal size and offset, and each level one SpatialMap"
    return InfeasibleError(Infeasible(ReasonCode.NOT_A_PARTITION, message, levers=(lever,)))
