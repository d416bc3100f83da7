"""Records of the compiled drawing of choices."""

from __future__ import annotations

from typing import Any

import numpy as np

DrawSizes: Any = np.dtype(
    [
        ("worlds", "i8"),
        ("columns", "i8"),
        ("inputs", "i8"),
        ("units", "i8"),
        ("width", "i8"),
        ("earlier", "i8"),
        ("free", "i8"),
        ("own", "f8"),
    ],
    align=True,
)
"""Sizes: worlds, parameters, figures observed, hidden units, choices of any parameter at most.
`earlier`: whether heads see the choices of those before them; `free`: whether the policies alone
are drawn from; `own`: their share."""
Column: Any = np.dtype([("owner", "i8"), ("choices", "i8")], align=True)
"""A parameter: the agent that owns it, and how many choices it has."""
Cell: Any = np.dtype([("mark", "f8"), ("choice", "i8")], align=True)
"""A parameter of a world: a uniform number in [0, 1), below 0 where no agent acts; its choice."""
