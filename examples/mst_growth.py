"""A rule of growth of your own: one class in one file.

    mst train --growth mst_growth:ByChance ...    # from the folder of this file

Units grow at random, each the likelier the larger its gradient. `by_gradient` asks for the dense
gradient, and has its operations counted.
"""

from __future__ import annotations

import numpy as np

from sparse_training import Growth


class ByChance(Growth):
    """Drawn with chances that follow the gradients."""

    by_gradient = True

    def grow(
        self,
        able: np.ndarray,
        gradients: np.ndarray | None,
        count: int,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Choose `count` of the units that are able to grow."""
        assert gradients is not None
        weights = gradients[able].astype(np.float64) + 1e-12
        return generator.choice(able, count, replace=False, p=weights / weights.sum())
