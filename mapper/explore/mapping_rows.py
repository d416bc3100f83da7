"""Mappings as rows of whole numbers: what a store keeps of a design, and what designs share."""

from __future__ import annotations

import numpy as np

from common import IntArray
from cost_models import MappingBatch
from layers import DIMS

D = len(DIMS)
WIDTH = 4 * D + 3
"""Orders and tiles of two levels, two parallel dimensions, and the cluster size."""


def rows_of(batch: MappingBatch) -> IntArray:
    """``(B, WIDTH)`` of mappings that take a chip's PEs and one parallel dimension a level."""
    size = len(batch)
    parts = (
        batch.orders.reshape(size, 2 * D),
        batch.parallel,
        batch.tiles.reshape(size, 2 * D),
        batch.cluster_size[:, None],
    )
    return np.concatenate([part.astype(np.int64) for part in parts], axis=1)


def batch_of(rows: IntArray) -> MappingBatch:
    """The mappings of :func:`rows_of`."""
    size = len(rows)
    return MappingBatch(
        orders=rows[:, : 2 * D].reshape(size, 2, D).astype(np.int8),
        parallel=rows[:, 2 * D : 2 * D + 2].astype(np.int8),
        tiles=rows[:, 2 * D + 2 : -1].reshape(size, 2, D).astype(np.int32),
        cluster_size=rows[:, -1].astype(np.int32),
    )
