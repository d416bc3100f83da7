"""A batch's mappings as the kernel takes them: a record each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.exact.row_records import MappingRow
from cost_models.mapping_batch import NO_DIM, MappingBatch


def mapping_rows(mappings: MappingBatch, num_pes: int) -> NDArray[Any]:
    """``(B,)`` of :data:`cost_models.exact.records.MappingRow`.

    Args:
        mappings: `B` mappings.
        num_pes: PEs of a mapping that has none of its own.
    """
    rows = np.zeros(len(mappings), MappingRow)
    for name in ("orders", "parallel", "tiles", "cluster_size"):
        rows[name] = getattr(mappings, name)
    rows["num_pes"] = num_pes if mappings.num_pes is None else mappings.num_pes
    rows["parallel2"] = NO_DIM if mappings.parallel2 is None else mappings.parallel2
    for name in ("units", "bypass"):
        given = getattr(mappings, name)
        if given is not None:
            rows[name] = given
    return rows


def beyond(mappings: MappingBatch) -> NDArray[np.bool_]:
    """``(B,)``: mappings with a second parallel dimension, or a tensor that bypasses a level."""
    found = np.zeros(len(mappings), np.bool_)
    if mappings.parallel2 is not None:
        found |= (mappings.parallel2 >= 0).any(axis=1)
    if mappings.bypass is not None:
        found |= mappings.bypass.any(axis=(1, 2))
    return found
