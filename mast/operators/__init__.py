"""Operators: the values of all actions, to what the next step is worth."""

from __future__ import annotations

from mast.operators.maximum import double_maximum, greedy_actions
from mast.operators.mellowmax import soft_mellowmax
from mast.operators.near_greedy import near_greedy_value

__all__ = ["double_maximum", "greedy_actions", "near_greedy_value", "soft_mellowmax"]
