"""Returns: rewards and what next steps are worth, to what each step should be worth."""

from __future__ import annotations

from mast.returns.hybrid import discounted
from mast.returns.lam import lambda_returns
from mast.returns.n_step import n_step_returns
from mast.returns.returns import RETURNS, Moment, Returns

__all__ = ["RETURNS", "Moment", "Returns", "discounted", "lambda_returns", "n_step_returns"]
