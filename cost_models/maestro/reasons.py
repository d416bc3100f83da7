"""Reasons for mappings on which the MAESTRO program stops without figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.lowering import LEVELS, REPEATED
from cost_models.mapping import MappingBatch
from layers import DIMS, Layer


def unread(layer: Layer) -> str:
    """What of a layer MAESTRO cannot read; empty where it reads all of it."""
    if not isinstance(layer.stride, int):
        return f"its strides {layer.stride} differ, and MAESTRO takes one for rows and columns"
    if layer.dilation != 1:
        return f"its filter is dilated ({layer.dilation}), and MAESTRO knows no dilation"
    return ""


def why_dead(
    code: ReasonCode,
    layer: Layer,
    num_pes: int,
    clusters: Sequence[int] = (),
    mapping: MappingBatch | None = None,
) -> Infeasible:
    """The typed report of a mapping that has no figures even without the guard.

    Args:
        code: PE_COUNT, REFUSED, DIES or TOO_LARGE.
        layer: The layer.
        num_pes: PEs that are used.
        clusters: Cluster sizes, outermost first.
        mapping: The mapping as a batch of one, where there is one.
    """
    where = f"layer {layer.name!r}: "
    if code is ReasonCode.PE_COUNT:
        need = math.prod(clusters)
        return Infeasible(
            code,
            f"{where}the clusters need {need} PEs, there are {num_pes} (+{need - num_pes})",
            need,
            num_pes,
            "PEs",
            (f"Reduce the cluster size {need} -> {num_pes}", f"raise --num-pes to {need}"),
        )
    if code is ReasonCode.TOO_LARGE:
        return Infeasible(
            code,
            f"{where}{layer.macs} MACs leave the model's integer range",
            layer.macs,
            2**56,
            "MACs",
            ("Split the layer",),
        )
    if code is ReasonCode.DIES:
        return Infeasible(
            code,
            f"{where}MAESTRO dies on this mapping: every step of a cluster is skipped, or the "
            "steps overflow 32 bits",
            levers=("Choose X and Y tiles no larger than the output",),
        )
    if unread(layer):
        return Infeasible(code, f"{where}{unread(layer)}", levers=("Use the exact model",))
    return Infeasible(
        ReasonCode.REFUSED,
        f"{where}MAESTRO refuses this mapping: {_refusal(layer, mapping)}",
        levers=("Keep filter tiles whole and give each level one parallel dimension",),
    )


def _refusal(layer: Layer, mapping: MappingBatch | None) -> str:
    """Which rule of MAESTRO a mapping breaks."""
    general = (
        "a level needs one or two SpatialMaps of dimensions that it has, each mapped once, and N "
        "and G outermost"
    )
    if mapping is None:
        return general
    if mapping.cluster_size[0] < 1:
        return f"the cluster size is {mapping.cluster_size[0]}, expected at least 1"
    if mapping.num_pes is not None and mapping.num_pes[0] < 1:
        return f"num_pes is {mapping.num_pes[0]}, expected at least 1"
    found = (_refusal_of_level(layer, mapping, level) for level in range(len(LEVELS)))
    return next((why for why in found if why), general)


def _refusal_of_level(layer: Layer, mapping: MappingBatch, level: int) -> str:
    name, place = LEVELS[level], int(mapping.parallel[0, level])
    parallel = DIMS[place] if 0 <= place < len(DIMS) else ""
    if sorted(mapping.orders[0, level]) != list(range(len(DIMS))):
        return f"the {name} loop order is no permutation of {DIMS}"
    if layer.depthwise and parallel == "K":
        return f"the {name} level spreads K, which a depthwise layer does not have"
    for dim, tile, extent in zip(DIMS, mapping.tiles[0, level], layer.extents, strict=True):
        if tile < 1:
            return f"the {name} tile of {dim} is {tile}, expected at least 1"
        if dim in REPEATED and extent > 1 and (tile > 1 or dim == parallel):
            return f"{dim} only repeats the nest: keep it outermost, with a tile of 1"
        if dim in "RS" and dim != parallel and tile < extent:
            return f"the {name} tile of {dim} is {tile}, expected the whole filter extent {extent}"
    return ""
