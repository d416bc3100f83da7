"""A Gaussian process on a window of samples, by BoTorch."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from botorch.models import SingleTaskGP
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NotPSDError
from torch import Tensor

from marl_common import FloatArray

STEPS = 50
"""Most steps of L-BFGS-B a fit."""


class GaussianProcess:
    """BoTorch's default process, whose kernel is fitted now and then and kept in between.

    The default is a squared exponential kernel with a length scale for each feature, under priors
    that suit many features (Hvarfner et al., Vanilla Bayesian optimization performs great in high
    dimensions, ICML 2024). Targets are standardised.
    """

    def __init__(self) -> None:
        self._kernel: dict[str, Tensor] = {}
        self._model: SingleTaskGP | None = None

    def condition(self, points: FloatArray, targets: FloatArray, fit: bool) -> None:
        """Learn from ``(n, F)`` points in about [0, 1] and their ``(n,)`` targets.

        Args:
            points: Features.
            targets: What to predict.
            fit: Climb the likelihood from the kernel of the last fit; otherwise that one is kept.
        """
        with warnings.catch_warnings(action="ignore"):  # a fit that stops early is no harm here
            model = SingleTaskGP(torch.from_numpy(points), torch.from_numpy(targets)[:, None])
            model.load_state_dict(self._kernel, strict=False)
            if fit:
                self._fit(model)
            self._model = model.eval()

    def _fit(self, model: SingleTaskGP) -> None:
        """Climb the likelihood and keep the kernel."""
        before = {name: value.clone() for name, value in model.state_dict().items()}
        likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
        try:
            fit_gpytorch_mll_scipy(likelihood.train(), options={"maxiter": STEPS})
        except NotPSDError:  # a step led to a kernel that cannot be inverted
            model.load_state_dict(before)
        self._kernel = {
            name: value.clone()
            for name, value in model.state_dict().items()
            if not name.startswith("outcome_transform")  # standardises this window's targets
        }

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean ``(B,)`` and covariance ``(B, B)`` of ``(B, F)`` points."""
        assert self._model is not None
        with torch.no_grad(), warnings.catch_warnings(action="ignore"):  # some jitter
            posterior = self._model.posterior(torch.from_numpy(points))
            mean: FloatArray = posterior.mean[:, 0].numpy()
            covariance: FloatArray = posterior.distribution.covariance_matrix.numpy()
        return mean, covariance


def joint_draws(
    mean: FloatArray, covariance: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """``(B, count)`` functions drawn from a process at `B` points."""
    # by torch, which keeps to one thread here: those of numpy spin for far longer than this takes
    known = torch.from_numpy(covariance)
    jitter = 1e-6 * known.diagonal().mean()
    spread = torch.linalg.cholesky(known + jitter * torch.eye(len(mean), dtype=known.dtype))
    noise = torch.from_numpy(rng.standard_normal((len(mean), count)))
    drawn: FloatArray = (torch.from_numpy(mean)[:, None] + spread @ noise).numpy()
    return drawn
