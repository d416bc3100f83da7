"""Types of the arrays that all floors hand to each other, and to kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
Int8Array = NDArray[np.int8]
Int16Array = NDArray[np.int16]
Int32Array = NDArray[np.int32]
IntArray = NDArray[np.int64]
UInt64Array = NDArray[np.uint64]
Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]


def contiguous(arrays: Iterable[NDArray[Any]]) -> list[Any]:
    """The arrays as a kernel takes them; those that have gaps are copied."""
    return [np.ascontiguousarray(array) for array in arrays]
