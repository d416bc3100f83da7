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
    rows["num_pes"] = pes_of(mappings, num_pes)
    rows["parallel2"] = NO_DIM if mappings.parallel2 is None else mappings.parallel2
    for name in ("units", "bypass"):
        given = getattr(mappings, name)
        if given is not None:
            rows[name] = given
    return rows


def pes_of(mappings: MappingBatch, num_pes: int) -> NDArray[np.int32]:
    """``(B,)`` PEs of each mapping: its own, or as many as said."""
    if mappings.num_pes is not None:
        return mappings.num_pes
    return np.broadcast_to(np.int32(num_pes), len(mappings))
