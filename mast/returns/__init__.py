"""Returns: rewards and what next steps are worth, to what each step should be worth."""

from __future__ import annotations

from mast.returns.hybrid import ReturnsPlan
from mast.returns.lam import lambda_returns
from mast.returns.n_step import n_step_returns

__all__ = ["ReturnsPlan", "lambda_returns", "n_step_returns"]
