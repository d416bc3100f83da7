"""From mappings to MAESTRO's directives and back.

A tile of t output rows is written ``Y'(u,u)`` with u = (t - 1) * stride + 1: MAESTRO counts
outputs as if the stride were 1, and u is the unstrided extent that t strided rows span.
"""

from __future__ import annotations

import math

from cost_models.dataflow import CLUSTER, Dataflow, DataflowError, Directive, size_of
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.mapping import LEVELS, Mapping
from cost_models.network import dimensions, language_kind
from layers import DIMS, Layer, LayerKind

_OUTPUT_AXES = {"Y": "Y'", "X": "X'"}
_GEMM_DIMS = {"M": "Y", "N": "K", "K": "C"}


def lower_mapping(mapping: Mapping, layer: Layer | None = None) -> Dataflow:
    """Lower a mapping; see :meth:`cost_models.Mapping.dataflow`."""
    depthwise = layer is not None and layer.depthwise
    directives: list[Directive] = []
    if layer is not None:
        directives += _repeats(layer)
    tiles = _clipped_tiles(mapping, layer)
    for level, order in enumerate(mapping.orders):
        if level == 1:
            directives.append(Directive(CLUSTER, str(mapping.cluster_size), "P"))
        if depthwise and mapping.parallel[level] == "K":
            raise MappingError(
                f"mapping.parallel[{level}]: got 'K', but layer {layer and layer.name!r} is "
                "depthwise and has no K to spread; choose C, Y or X"
            )
        for dim in order:
            if depthwise and dim == "K":
                continue
            kind = "SpatialMap" if dim == mapping.parallel[level] else "TemporalMap"
            size = _written_size(dim, tiles[level].get(dim), layer)
            directives.append(Directive(kind, size, size, _OUTPUT_AXES.get(dim, dim)))
    return Dataflow(tuple(directives))


def _repeats(layer: Layer) -> list[Directive]:
    """Batch and groups run outside the mapping, one at a time."""
    counts = {"N": layer.N, "G": layer.groups}
    if layer.kind is LayerKind.GEMM:
        return []
    return [Directive("TemporalMap", "1", "1", dim) for dim, n in counts.items() if n > 1]


def _clipped_tiles(mapping: Mapping, layer: Layer | None) -> list[dict[str, int]]:
    if layer is None:
        return [dict(tiles) for tiles in mapping.tiles]
    limit = dict(zip(DIMS, layer.extents, strict=True))
    clipped = []
    for tiles in mapping.tiles:
        limit = {dim: min(tiles.get(dim, n), n) for dim, n in limit.items()}
        clipped.append(limit)
    return clipped


def _written_size(dim: str, tile: int | None, layer: Layer | None) -> str:
    if tile is None:
        if dim in _OUTPUT_AXES:
            raise MappingError(
                f"mapping.tiles: {dim} is missing; give it, or give the layer to dataflow()"
            )
        return f"Sz({dim})"
    stride = 1 if layer is None else layer.stride
    return str((tile - 1) * stride + 1 if dim in _OUTPUT_AXES else tile)


def raise_dataflow(dataflow: Dataflow, layer: Layer) -> Mapping:
    """Read a dataflow back as a mapping; see :meth:`cost_models.Mapping.from_dataflow`.

    A level that leaves a dimension out takes it from the level above, as MAESTRO does, and from the
    layer at the top.
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
        order: list[str] = []
        tile: dict[str, int] = {}
        spatial = []
        for directive in level:
            if directive.dim in ("N", "G") and kind is not LayerKind.GEMM:
                _check_repeat(directive, layer, sizes)
                continue
            dim, count = _read_tile(directive, layer, kind, sizes)
            if dim in tile:
                raise _refused(layer, f"its level {LEVELS[number]} maps {dim} twice")
            order.append(dim)
            tile[dim] = min(count, limit[dim])
            if directive.kind == "SpatialMap":
                spatial.append(dim)
        if len(spatial) != 1:
            raise _refused(
                layer,
                f"its {LEVELS[number]} level spreads {len(spatial)} dimensions "
                f"({', '.join(spatial) or 'none'}) and needs exactly one",
            )
        order = [d for d in (orders[-1] if orders else DIMS) if d not in tile] + order
        limit = {dim: tile.get(dim, n) for dim, n in limit.items()}
        orders.append("".join(order))
        parallel.append(spatial[0])
        tiles.append(limit)
    if len(levels) == 1:
        orders, parallel, tiles = orders * 2, parallel * 2, tiles * 2
        cluster_size = 1
    else:
        cluster_size = _value(dataflow.clusters[0].size, sizes, layer)
    return Mapping(
        (orders[0], orders[1]), (parallel[0], parallel[1]), (tiles[0], tiles[1]), cluster_size
    )


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
    if dim.endswith("'"):
        count, dim = math.ceil(size / layer.stride), dim[0]
    elif dim in "YX" and kind is not LayerKind.GEMM:
        taps = layer.R if dim == "Y" else layer.S
        count = (size + layer.stride - taps) // layer.stride
        step = count * layer.stride
    if count < 1 or step != offset:
        text = str(directive).rstrip(";")
        raise _refused(layer, f"{text} is not a partition: expected an offset of {max(step, 1)}")
    return dim, count


def _check_repeat(directive: Directive, layer: Layer, sizes: dict[str, int]) -> None:
    size = _value(directive.size, sizes, layer)
    if directive.kind != "TemporalMap" or size != 1:
        raise _refused(layer, f"{directive} is not TemporalMap(1,1) {directive.dim}")


def _value(text: str, sizes: dict[str, int], layer: Layer) -> int:
    try:
        value = size_of(text, sizes)
    except DataflowError as error:
        raise _refused(layer, str(error)) from error
    if value < 1:
        raise _refused(layer, f"size {text!r} is {value}, expected at least 1")
    return value


def _refused(layer: Layer, why: str) -> InfeasibleError:
    return InfeasibleError(
        Infeasible(
            ReasonCode.NOT_A_PARTITION,
            f"layer {layer.name!r}: the dataflow is not a partition of the MACs: {why}",
            levers=("Give every dimension equal size and offset, and each level one SpatialMap",),
        )
    )
