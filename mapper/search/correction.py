"""What a dear cost model says, as a share of what a cheap one says, learnt from few samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from marl_common import FloatArray

FITTED = 24
"""Samples from which on the kernel is fitted: fewer make it too sure."""
GROWTH = 1.3
"""Factor by which the samples grow between two fits of the kernel."""
INFEASIBLE = 1.0
"""How far above the worst sample one counts that no buffer refuses; a logarithm."""
NOISE = 1e-3
"""Variance of what nests do not tell."""
LEAST = 0.3
"""Standard deviation that is expected at least of what is not explained."""


class Correction:
    """Log of the dear figure over the cheap one: a mean and a Gaussian process over the nest.

    Args:
        prior: Standard deviation of the logarithm before anything is told, and at most at first.
        least: Feasible samples from which on it learns.
    """

    def __init__(self, prior: float, least: int) -> None:
        self.prior, self.least = prior, least
        self.mean, self.fitted = 0.0, 0
        self._process: Any = None

    @property
    def ready(self) -> bool:
        """Whether it has learnt from anything."""
        return self._process is not None

    def learn(self, points: FloatArray, prices: FloatArray, values: FloatArray) -> None:
        """Take all samples so far: ``(n, F)``, ``(n,)`` logs; a value of inf is infeasible."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern

        good = np.isfinite(values)
        if good.sum() < self.least:
            return
        worst = values[good].max() + INFEASIBLE
        targets = np.where(good, values, worst) - prices
        self.mean = float(targets.mean())
        varied = float(np.clip(targets.std(), LEAST, self.prior))
        kernel = ConstantKernel(varied**2, (1e-3, 10.0)) * Matern(3.0, (0.3, 30.0), 2.5)
        optimizer = None
        if self.fitted:
            kernel = self._process.kernel_
        if len(values) >= max(FITTED, GROWTH * self.fitted):
            self.fitted, optimizer = len(values), "fmin_l_bfgs_b"
        process = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process = process.fit(points, targets - self.mean)

    def expect(self, points: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``(n,)`` the expected logs, and their standard deviations."""
        if not self.ready:
            return prices, np.full(len(prices), self.prior)
        mean, spread = self._process.predict(points, return_std=True)
        return prices + self.mean + mean, np.maximum(spread, NOISE)
