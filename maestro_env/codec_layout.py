"""What the compiled code knows of a space: where each part of a mapping sits in an action."""

from __future__ import annotations

from typing import Any

from marl_common import record_type

WIDTH = 8
"""Dimensions, in the order KCYXRSNG."""

OFFERED, NO_CHOICE, NO_ORDER, NOT_FIXED, NOT_OUTERMOST = range(5)
"""Whether a space offers a mapping: it does; a parameter lacks a value, or a choice that gives the
order; a tile is not the one that all mappings have; a loop that repeats the nest is inside it."""

Columns: Any = record_type(
    ("i8", "extents fixed lead numbered", WIDTH),
    ("i8", "priority unsorted", (2, WIDTH)),
    ("i8", "first last order parallel", 2),
    ("i8", "tile", (2, WIDTH)),
    ("i8", "cluster pes parameters most"),
)
OfferRow: Any = record_type(("i8", "status row column dim value"))
"""`OfferRow` is `codec.Offer`. `Columns` is one space; a column of -1 is not searched.

- `extents`, and `fixed`: tiles of the dimensions whose tiles are not searched;
- `lead`: whether a dimension is outermost in every mapping, `numbered`: whether the numbered orders
  permute it;
- `priority`: columns of the priorities of loops that can iterate, by level and dimension; `order`:
  those of the numbered orders; `parallel`, `tile`, `cluster`, `pes`: those of the other choices;
- `unsorted`: by level the dimensions that lead, those with priorities, which are the places `first`
  to `last`, and the rest;
- `parameters`: columns of an action, `most`: columns of the table of values.
"""

NO_SYMMETRY, OF_NEST = 0, 2
"""Values of `cost_models.Symmetry`."""
DIM_R, DIM_S, TENSORS = 4, 5, 3
"""What the keys of mappings look at."""

OBSERVED, DECADES = 4, 6
"""Figures that are observed; 0 at their lower bound, 1 at 10^6 times that."""
LOG_REWARD = 2
"""Place of the reward "log" among all."""
