"""Records of the compiled drawing of choices."""

from __future__ import annotations

from typing import Any

from marl_common import record_type

DrawSizes: Any = record_type(
    ("i8", "worlds columns inputs units width earlier free"), ("f8", "own")
)
"""Sizes: worlds, parameters, figures observed, hidden units, choices of any parameter at most.
`earlier`: whether heads see the choices of those before them; `free`: whether the policies alone
are drawn from; `own`: their share."""
Column: Any = record_type(("i8", "owner choices"))
"""A parameter: the agent that owns it, and how many choices it has."""
Cell: Any = record_type(("f8", "mark"), ("i8", "choice"))
"""A parameter of a world: a uniform number in [0, 1), below 0 where no agent acts; its choice."""
