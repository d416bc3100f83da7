"""Mappings that differ only where it cannot matter, recognised by a common key."""

from __future__ import annotations

import numpy as np

from cost_models import Accelerator, Chain, ChainBatch, MappingBatch, Symmetry
from layers import TENSORS, Layer
from maestro_env import kernel
from maestro_env.chain_keys import chain_keys
from marl_common import BoolArray, Int8Array, Int32Array, UInt64Array, contiguous


def nest_keys(
    layer: Layer,
    accelerator: Accelerator | Chain,
    mappings: MappingBatch | ChainBatch,
    symmetry: Symmetry = Symmetry.TILE,
) -> UInt64Array:
    """A 64-bit key a mapping; equal where two mappings run the same loop nest.

    A loop of one iteration never advances, so its place in the order is immaterial: the key holds
    the relative order of the loops that iterate, the tiles, the parallel dimensions and the cluster
    size (of a chain: the units that get work). Mappings with equal keys cost the same (up to a
    chance of about 2^-64 a pair).

    Args:
        layer: The layer.
        accelerator: Its PEs are used where the mappings choose none.
        mappings: `B` mappings.
        symmetry: Which mappings the cost model gives the same cost.

    Returns:
        ``(B,)`` uint64.
    """
    if isinstance(mappings, ChainBatch):
        return chain_keys(layer, mappings, symmetry)
    assert isinstance(accelerator, Accelerator)
    pes, size = mappings.pes(accelerator.num_pes), len(mappings)
    keys = np.empty(size, np.uint64)
    extents = np.array(layer.extents, dtype=np.int64)
    arrays = (mappings.orders, mappings.parallel, mappings.tiles, mappings.cluster_size, pes)
    fields = contiguous(_optional(mappings))
    known = (int(symmetry), len(fields[0]) > 0)
    arguments = (extents, *contiguous(arrays), *known, *fields, keys, size)
    kernel.nest_keys(*arguments)
    return keys


def _optional(mappings: MappingBatch) -> tuple[Int8Array, Int32Array, BoolArray]:
    """Second dimensions, units and bypass; without rows where no mapping has them."""
    second, units, bypass = mappings.parallel2, mappings.units, mappings.bypass
    size = len(mappings)
    if second is None and bypass is None:
        size = 0
    return (
        np.full((size, 2), -1, np.int8) if second is None else second,
        np.zeros((size, 2), np.int32) if units is None else units,
        np.zeros((size, 2, len(TENSORS)), np.bool_) if bypass is None else bypass,
    )
