"""Files of arrays and text in the safetensors format, which can run no code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common.files import atomic_write


def write_arrays(
    path: str | Path, arrays: Mapping[str, NDArray[Any]], texts: dict[str, str]
) -> None:
    """Write arrays by name and texts by name, whole or not at all; see :func:`atomic_write`."""
    from safetensors.numpy import save

    with atomic_write(path) as draft:
        draft.write_bytes(save({n: np.ascontiguousarray(arrays[n]) for n in arrays}, texts))
