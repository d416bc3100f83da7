"""A rule of growth of your own: one class in one file.

    mst train --growth mst_growth:ByOutput ...    # from the folder of this file

Units grow where the gradient is large beside the others of the same output. A rule of scores needs
the dense gradient, whose operations are counted (`GrowthRule.flops`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparse_training import GrowthRule, Structure


@dataclass(frozen=True)
class ByOutput(GrowthRule):
    """Scores by the mean gradient of an output; of single weights."""

    def scores(self, structure: Structure, gradients: np.ndarray) -> np.ndarray:
        """The highest grow."""
        rows = gradients.reshape(structure.shape[0], -1)
        return (rows / (rows.mean(axis=1, keepdims=True) + 1e-12)).reshape(-1)
