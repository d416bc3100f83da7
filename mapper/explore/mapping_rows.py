"""Mappings as rows of whole numbers: what a store keeps of a design, and what designs share."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from cost_models import (
    Accelerator,
    Chain,
    ChainBatch,
    ChainMapping,
    Mapping,
    MappingBatch,
    Slot,
)
from layers import DIMS, Layer
from marl_common import IntArray

D = len(DIMS)
NO_DIM = -1


def kin_of(chip: Accelerator | Chain) -> Hashable:
    """What decides which mappings there are: chips of one kin have the same, where they fit."""
    if isinstance(chip, Chain):
        return tuple((level.name, level.holds, level.fanout.axes) for level in chip.levels)
    return chip.num_pes


def rows_of(batch: MappingBatch | ChainBatch, chip: Accelerator | Chain) -> IntArray:
    """``(B, W)`` of mappings of a default space: one parallel dimension a level or axis.

    Of two levels: orders, parallel dimensions, tiles, cluster size. Of a list: orders, dimensions
    and units of all axes, tiles.
    """
    size = len(batch)
    if isinstance(batch, ChainBatch):
        assert isinstance(chip, Chain)
        levels, slots = _layout(chip)
        dims = np.full((size, len(slots)), NO_DIM, np.int64)
        units = np.ones((size, len(slots)), np.int64)
        for place, slot in enumerate(batch.slots):
            dims[:, slots.index(slot)] = batch.dims[:, place]
            units[:, slots.index(slot)] = batch.units[:, place]
        whole = (size, len(levels) * D)
        parts: list[Any] = [
            batch.orders.reshape(whole),
            dims,
            units,
            batch.tiles.reshape(whole),
        ]
    else:
        whole = (size, 2 * D)
        parts = [
            batch.orders.reshape(whole),
            batch.parallel,
            batch.tiles.reshape(whole),
            batch.cluster_size[:, None],
        ]
    return np.concatenate([part.astype(np.int64) for part in parts], axis=1)


def batch_of(rows: IntArray, chip: Accelerator | Chain) -> Any:
    """The mappings of :func:`rows_of`, of a chip of their kin: a batch as cost models take them."""
    size = len(rows)
    if isinstance(chip, Chain):
        levels, slots = _layout(chip)
        whole, axes = len(levels) * D, len(slots)
        orders, dims, units, tiles = np.split(rows, np.cumsum([whole, axes, axes]), axis=1)
        return ChainBatch(
            levels,
            slots,
            tiles.reshape(size, len(levels), D).astype(np.int32),
            orders.reshape(size, len(levels), D).astype(np.int8),
            dims.astype(np.int8),
            units.astype(np.int32),
            legal_on=chip,
        )
    return MappingBatch(
        orders=rows[:, : 2 * D].reshape(size, 2, D).astype(np.int8),
        parallel=rows[:, 2 * D : 2 * D + 2].astype(np.int8),
        tiles=rows[:, 2 * D + 2 : -1].reshape(size, 2, D).astype(np.int32),
        cluster_size=rows[:, -1].astype(np.int32),
    )


def row_of(mapping: Mapping | ChainMapping, layer: Layer, chip: Accelerator | Chain) -> IntArray:
    """``(1, W)`` of one mapping."""
    if isinstance(chip, Chain):
        assert isinstance(mapping, ChainMapping)
        return rows_of(ChainBatch.from_mappings([mapping], chip), chip)
    assert isinstance(mapping, Mapping)
    return rows_of(MappingBatch.from_mappings([mapping], layer.extents), chip)


def _layout(chip: Chain) -> tuple[tuple[str, ...], tuple[Slot, ...]]:
    """The levels and spreads of a chip's mappings in which every level stands once."""
    levels = chip.inner
    return tuple(level.name for level in levels), tuple(
        Slot(entry, axis)
        for entry, level in enumerate(levels)
        if not level.fanout.any
        for axis in range(len(level.fanout.axes))
    )
