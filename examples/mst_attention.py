"""An attention pattern of your own: one class in one file.

    mst train --attention mst_attention:Dilated:64 ...    # from the folder of this file

Every second key of the last 64. Keys that are seen by their distance alone are computed by the
compiled kernel; operations are counted from the pairs.
"""

from __future__ import annotations

import numpy as np

from mst import Pattern, Sizes


class Dilated(Pattern):
    """Every second key of a window.

    Args:
        reach: How far back.
    """

    by_distance = True

    def __init__(self, reach: int = 64) -> None:
        self._reach = reach

    def sees(self, query: np.ndarray, key: np.ndarray, sizes: Sizes) -> np.ndarray:
        """Whether queries see keys."""
        behind = query - key
        return (behind < self._reach) & (behind % 2 == 0)
