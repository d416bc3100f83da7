"""Records of mappings of two levels, and of their counts by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from cost_models.exact.names import BOUND_NAMES, COUNT_NAMES, WIDE_NAMES
from cost_models.exact.records import DIMS, TENSORS, record

# a mapping of two levels, as in a `MappingBatch`
MappingRow: Any = np.dtype(
    [
        ("orders", "i1", (2, DIMS)),
        ("parallel", "i1", (2,)),
        ("parallel2", "i1", (2,)),
        ("bypass", "?", (2, TENSORS)),
        ("tiles", "i4", (2, DIMS)),
        ("cluster_size", "i4"),
        ("num_pes", "i4"),
        ("units", "i4", (2,)),
    ],
    align=True,
)
CountRow: Any = record(" ".join((*COUNT_NAMES, *BOUND_NAMES, *WIDE_NAMES)))
