"""Records of mappings of two levels, and of their counts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cost_models.exact.names import BOUND_NAMES, COUNT_NAMES, WIDE_NAMES
from cost_models.exact.records import DIMS, TENSORS

if TYPE_CHECKING:  # in a kernel a record is a type
    MappingRow: TypeAlias = Any
    CountRow: TypeAlias = Any
else:
    # a mapping of two levels, as in a `MappingBatch`
    MappingRow = np.dtype(
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
    CountRow = np.dtype([(name, "i8") for name in (*COUNT_NAMES, *BOUND_NAMES, *WIDE_NAMES)])
