"""Which tensor depends on which dimension, as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layers.dims import COUPLED, DIMS, LayerKind


def _matrix(coupled: tuple[str, str, str]) -> NDArray[np.int8]:
    matrix = np.array([[dim in dims for dim in DIMS] for dims in coupled], dtype=np.int8)
    matrix.setflags(write=False)
    return matrix


COUPLING: dict[LayerKind, NDArray[np.int8]] = {
    kind: _matrix(coupled) for kind, coupled in COUPLED.items()
}
"""``(3, 8)`` a kind: rows input, filter, output; columns in the order of `DIMS`; 1 = depends."""
