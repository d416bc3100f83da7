"""Fields of a mapping that the model does not understand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.mapping_batch import MappingBatch
from layers import Layer


def not_understood(mappings: MappingBatch) -> NDArray[np.bool_]:
    """``(B,)``: mappings with a second parallel dimension, or with a tensor that passes a level."""
    found: NDArray[np.bool_] = np.zeros(len(mappings), np.bool_)
    if mappings.parallel2 is not None:
        found |= (mappings.parallel2 >= 0).any(axis=1)
    if mappings.bypass is not None:
        found |= mappings.bypass.any(axis=(1, 2))
    return found


def refused_field(layer: Layer) -> Infeasible:
    """The report of a mapping that uses such a field."""
    return Infeasible(
        ReasonCode.REFUSED,
        f"layer {layer.name!r}: the model takes one parallel dimension a level, "
        "and every tensor in every level",
        levers=("Leave parallel2, units and bypass out of the mapping",),
    )
