"""A Gaussian process over the first samples of a search, which ranks what is proposed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from baselines.adam import Adam
from baselines.window import best_and_newest
from marl_common import FloatArray, IntArray


class Surrogate:
    """Log of the objective as a Gaussian process: a Matern kernel with a scale for each feature.

    Infeasible samples count as bad as the worst tenth of the feasible ones. The kernel's parameters
    climb the likelihood by a few steps whenever the samples have grown by a quarter. Ranking is
    Thompson sampling: each pick is the best of one function drawn from the process, so picks that
    are made together differ where the process is unsure (Thompson, Biometrika 1933; Rasmussen and
    Williams, Gaussian processes for machine learning, 2006).

    Args:
        width: Number of features of a point.
    """

    MOST = 256
    """Samples it holds: of more, the latest half and the best of the others."""
    STEPS = 12
    GROWTH = 1.25
    LEARNING_RATE = 0.15
    FEASIBLE = 5
    WORST = 0.9
    """Quantile of the feasible values at which all worse ones are cut off."""

    def __init__(self, width: int) -> None:
        self.points: FloatArray = np.empty((0, width))
        self.values: FloatArray = np.empty(0)
        self.fitted = self.taken = 0
        scales = torch.full((width,), -math.log(0.1 * width), dtype=torch.float64)
        self.scales = torch.nn.Parameter(scales)  # log of 1 / length**2
        self.signal = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))  # log variance
        self.noise = torch.nn.Parameter(torch.full((), -4.0, dtype=torch.float64))
        self._known: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def ready(self) -> bool:
        """Whether it has seen enough feasible samples to rank anything."""
        return int(np.isfinite(self.values).sum()) >= self.FEASIBLE

    def add(self, points: FloatArray, values: FloatArray) -> None:
        """Take ``(B, F)`` features in about [0, 1] and ``(B,)`` values, inf where infeasible."""
        self.taken += len(values)
        points = np.concatenate([self.points, points])
        values = np.concatenate([self.values, values])
        kept = best_and_newest(values, self.MOST)
        self.points, self.values = points[kept], values[kept]
        self._known = None

    def pick(self, points: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
        """``(count,)`` distinct rows of ``(B, F)`` features, ``count <= B``: the most promising."""
        seen, factor, weights = self._known or self._condition()
        with torch.no_grad():
            new = torch.from_numpy(points)
            cross = self._covariance(new, seen)
            explained = torch.linalg.solve_triangular(factor, cross.T, upper=False)
            left = self._covariance(new, new) - explained.T @ explained
            left.diagonal().add_(1e-4 * self.signal.exp())
            spread, _ = torch.linalg.cholesky_ex(left)
            noise = torch.from_numpy(rng.standard_normal((len(points), count)))
            drawn: FloatArray = (cross @ weights + spread @ noise).numpy()
        picked: list[int] = []
        for order in np.argsort(drawn, axis=0, kind="stable").T.tolist():
            picked.append(next(row for row in order if row not in picked))
        return np.array(picked, dtype=np.int64)

    def state_dict(self) -> dict[str, Any]:
        """Everything that a checkpoint keeps."""
        return {
            "points": self.points,
            "values": self.values,
            "counts": [self.fitted, self.taken],
            "kernel": [part.detach().clone() for part in self._kernel()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        self.points, self.values = state["points"], state["values"]
        self.fitted, self.taken = state["counts"]
        with torch.no_grad():
            for mine, kept in zip(self._kernel(), state["kernel"], strict=True):
                mine.copy_(kept)
        self._known = None

    def _kernel(self) -> list[torch.nn.Parameter]:
        return [self.scales, self.signal, self.noise]

    def _condition(self) -> tuple[Tensor, Tensor, Tensor]:
        """Points, the factor of their covariance, and the weights of the mean; kept until `add`."""
        points = torch.from_numpy(self.points)
        targets = torch.from_numpy(self._targets())[:, None]
        if self.taken >= self.GROWTH * self.fitted:
            self._fit(points, targets)
            self.fitted = self.taken
        with torch.no_grad():
            factor = self._factor(self._covariance(points, points))
            self._known = points, factor, torch.cholesky_solve(targets, factor)
        return self._known

    @torch.no_grad()
    def _fit(self, points: Tensor, targets: Tensor) -> None:
        """Climb the likelihood of the targets."""
        optimizer = Adam(self._kernel(), self.LEARNING_RATE)
        for _ in range(self.STEPS):
            for parameter, slope in zip(self._kernel(), self._slopes(points, targets), strict=True):
                parameter.grad = slope
            optimizer.step()
            self.scales.clamp_(-8.0, 5.0)
            self.signal.clamp_(-3.0, 4.0)
            self.noise.clamp_(-9.0, 0.0)

    def _slopes(self, points: Tensor, targets: Tensor) -> list[Tensor]:
        """Gradient of minus the log-likelihood (Rasmussen and Williams, eq. 5.9), as `_kernel`."""
        apart = self._apart(points, points)
        covariance = self._matern(apart)
        factor = self._factor(covariance)
        weights = torch.cholesky_solve(targets, factor)
        pull = 0.5 * (torch.cholesky_inverse(factor) - weights * weights.T)
        return [
            self._pull_of_scales(points, pull * self._matern_slope(apart)),
            (pull * covariance).sum(),
            pull.trace() * self.noise.exp(),
        ]

    def _pull_of_scales(self, points: Tensor, pull: Tensor) -> Tensor:
        """Gradient of `scales` from that of the squared distances ``(N, N)``."""
        squares = pull.sum(dim=1) @ points.square()
        products = (points * (pull @ points)).sum(dim=0)
        return 2.0 * self.scales.exp() * (squares - products)

    def _factor(self, covariance: Tensor) -> Tensor:
        """Cholesky factor ``(N, N)`` with the noise on the diagonal."""
        noisy = covariance.clone()
        noisy.diagonal().add_(self.noise.exp() + 1e-6)
        factor: Tensor = torch.linalg.cholesky(noisy)
        return factor

    def _covariance(self, left: Tensor, right: Tensor) -> Tensor:
        """``(N, M)`` of points ``(N, F)`` and ``(M, F)``."""
        return self._matern(self._apart(left, right))

    def _apart(self, left: Tensor, right: Tensor) -> Tensor:
        """``(N, M)`` scaled distances between points ``(N, F)`` and ``(M, F)``."""
        root = (5.0 * self.scales.exp()).sqrt()
        left, right = left * root, right * root
        ends = left.square().sum(dim=1)[:, None] + right.square().sum(dim=1)
        return torch.addmm(ends, left, right.T, alpha=-2.0).clamp_min_(1e-12).sqrt_()

    def _matern(self, apart: Tensor) -> Tensor:
        """Matern 5/2 of scaled distances (its root of 5 included)."""
        polynomial = (1.0 + apart).add_(apart.square().div_(3.0))
        return polynomial.mul_((self.signal - apart).exp_())

    def _matern_slope(self, apart: Tensor) -> Tensor:
        """Derivative of :meth:`_matern` by the squared scaled distance, without the root of 5."""
        return (-5.0 / 6.0) * (1.0 + apart) * (self.signal - apart).exp()

    def _targets(self) -> FloatArray:
        """``(N,)`` standardised logs."""
        good = np.isfinite(self.values)
        logs = np.log(self.values[good])
        worst = np.quantile(logs, self.WORST)
        targets = np.full(len(self.values), worst)
        targets[good] = np.minimum(logs, worst)
        standard: FloatArray = (targets - targets.mean()) / (targets.std() or 1.0)
        return standard
