"""A law of density of your own: one class in one file.

    mst train --density-law mst_schedule:Cosine ...    # from the folder of this file

Slow at both ends of a phase. `mst flops --density-law mst_schedule:Cosine` counts what it costs.
"""

from __future__ import annotations

import math

from sparse_training import DensityLaw


class Cosine(DensityLaw):
    """Half a cosine."""

    def left(self, left: float) -> float:
        """Share of the change that is left."""
        return (1 - math.cos(math.pi * left)) / 2
