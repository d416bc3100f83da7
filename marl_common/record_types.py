"""Types of records of a kernel, in C's layout."""

from __future__ import annotations

from typing import Any

import numpy as np


def record_type(*groups: tuple[Any, str, *tuple[Any, ...]]) -> np.dtype[Any]:
    """A record of groups of fields: a type, names, and a shape where there is one."""
    fields = [(name, kind, *shape) for kind, names, *shape in groups for name in names.split()]
    return np.dtype(fields, align=True)


def union_type(**fields: Any) -> np.dtype[Any]:
    """A record whose fields are views of the same memory."""
    names, formats = list(fields), list(fields.values())
    return np.dtype({"names": names, "formats": formats, "offsets": [0] * len(names)}, align=True)
