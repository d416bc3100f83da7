"""Operators: the values of all actions, to what the next step is worth."""

from __future__ import annotations

from mast.operators.maximum import double_maximum, greedy_actions
from mast.operators.mellowmax import soft_mellowmax
from mast.operators.near_greedy import NearGreedy
from mast.operators.operator import OPERATORS, Operator

__all__ = [
    "OPERATORS",
    "NearGreedy",
    "Operator",
    "double_maximum",
    "greedy_actions",
    "soft_mellowmax",
]
