"""Optional fields of mappings, as the kernel takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.mapping_batch import MappingBatch


def optional_rows(mappings: MappingBatch) -> NDArray[np.bool_] | None:
    """``(B,)``: mappings with a second parallel dimension, or with a tensor that passes a level.

    None where there are none.
    """
    if mappings.parallel2 is None and mappings.bypass is None:
        return None
    found: NDArray[np.bool_] = np.zeros(len(mappings), np.bool_)
    if mappings.parallel2 is not None:
        found |= (mappings.parallel2 >= 0).any(axis=1)
    if mappings.bypass is not None:
        found |= mappings.bypass.any(axis=(1, 2))
    return found if found.any() else None


def optional_arrays(mappings: MappingBatch) -> tuple[NDArray[Any], ...]:
    """Second parallel dimensions, units and bypass of all mappings, used or not."""
    size = len(mappings)
    second, units, bypass = mappings.parallel2, mappings.units, mappings.bypass
    return (
        np.full((size, 2), -1, np.int8) if second is None else second,
        np.zeros((size, 2), np.int32) if units is None else units,
        np.zeros((size, 2, 3), np.bool_) if bypass is None else bypass,
    )
