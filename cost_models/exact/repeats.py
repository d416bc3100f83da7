"""Batch and groups around one nest: the kernel knows the six dimensions that they repeat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.mapping_batch import MappingBatch
from layers import DIMS, NEST_DIMS, Layer

NEST = len(NEST_DIMS)


def nest_orders(orders: NDArray[np.int8]) -> NDArray[np.int8]:
    """Orders ``(B, 2, 6)`` of the nest alone; all zeros where an order is no permutation."""
    inside = orders < NEST
    legal = (inside.sum(axis=2) == NEST) & (orders.sum(axis=2) == sum(range(len(DIMS))))
    if not legal.all():
        inside = np.where(legal[:, :, None], inside, np.arange(len(DIMS)) < NEST)
        orders = np.where(legal[:, :, None], orders, np.int8(0))
    return orders[inside].reshape(-1, 2, NEST)


def beyond_the_nest(
    layer: Layer, accelerator: Accelerator, mappings: MappingBatch
) -> NDArray[np.bool_]:
    """``(B,)``: what is more than one nest that N and G repeat, one after the other."""
    beyond: NDArray[np.bool_] = np.zeros(len(mappings), np.bool_)
    beyond |= ((mappings.parallel >= NEST) & (mappings.parallel < len(DIMS))).any(axis=1)
    if mappings.parallel2 is not None:
        beyond |= (mappings.parallel2 >= 0).any(axis=1)
    if mappings.bypass is not None:
        beyond |= mappings.bypass.any(axis=(1, 2))
    if layer.repeats == 1:
        return beyond
    extents = np.array(layer.extents)
    pes = accelerator.num_pes if mappings.num_pes is None else mappings.num_pes
    units = np.maximum(1, pes // np.maximum(1, mappings.cluster_size))
    spread = mappings.parallel[:, 0, None] == np.arange(len(DIMS))
    iterates = mappings.tiles[:, 0] * np.where(spread, units[:, None], 1) < extents
    iterates[:, NEST:] = False
    order = mappings.orders[:, 0].astype(np.intp)
    earlier = np.maximum.accumulate(np.take_along_axis(iterates, order, axis=1), axis=1)
    for dim in range(NEST, len(DIMS)):
        if extents[dim] > 1:
            inside = (earlier & (order == dim)).any(axis=1)
            beyond |= inside | (mappings.tiles[:, 0, dim] > 1)
    return beyond


def unsupported(layer: Layer) -> Infeasible | None:
    """Why the model has no figures for a layer, or None."""
    if isinstance(layer.stride, int) and layer.dilation == 1:
        return None
    return Infeasible(
        ReasonCode.REFUSED,
        f"layer {layer.name!r}: the model counts one stride for rows and columns and no dilation; "
        f"got stride={layer.stride}, dilation={layer.dilation}",
    )


def refused(layer: Layer) -> Infeasible:
    """The report of a mapping that is more than a repeated nest."""
    return Infeasible(
        ReasonCode.REFUSED,
        f"layer {layer.name!r}: the model repeats the nest for N and G, one parallel dimension a "
        "level and every tensor in every level",
        levers=("Keep N and G outermost with tile 1",),
    )
