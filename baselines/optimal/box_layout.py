"""How boxes of tile positions lie in memory, and what the compiled code says of them."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 8
"""Dimensions, in the order KCYXRSNG."""
TAPS: Final = (4, 5)
"""The dimensions R and S."""
LEAF: Final = -1
"""Instead of a split: every dimension has one tile."""
BANDS: Final = 256
"""Bands of the bound in which boxes wait."""
NONE: Final = -1
"""Instead of a place: the end of a chain."""
