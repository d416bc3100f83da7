"""Types of the arrays that all floors hand to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
Int8Array = NDArray[np.int8]
Int32Array = NDArray[np.int32]
IntArray = NDArray[np.int64]
UInt64Array = NDArray[np.uint64]
Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]
