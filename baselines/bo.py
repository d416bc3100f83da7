"""Bayesian optimisation with Gaussian processes, by scikit-optimize's regressor and acquisition."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.extras import require
from baselines.operators import Moves, Seen
from baselines.searcher import BaseSearcher, Capabilities, positive
from maestro_env import MapSpace, Problem
from maestro_env.evaluation import FloatArray
from maestro_env.loop_orders import numbered
from maestro_env.map_space import IntArray


@dataclass(frozen=True)
class BoConfig:
    """Options of :class:`BayesianOptimisation`.

    Args:
        startup: Random samples before the model is used (more, until five are feasible).
        candidates: Random candidates a step, of which the best expected improvement is taken.
        local: Further candidates a step, mutations of the best samples.
        refit: Samples between two fits of the kernel's parameters.
    """

    startup: int = 30
    candidates: int = 500
    local: int = 500
    refit: int = 10

    def __post_init__(self) -> None:
        positive(
            startup=self.startup,
            candidates=self.candidates,
            local=self.local,
            refit=self.refit,
        )


class BayesianOptimisation(BaseSearcher):
    """Expected improvement on the logarithm of the objective, times the chance of being feasible.

    One process models the feasible values, a second one feasibility (Gardner et al., ICML 2014). A
    step costs time in proportion to the cube of the samples, so it stops after 200.
    """

    name = "bo"
    source = "Jones et al., Efficient global optimization, 1998; scikit-optimize"
    Config = BoConfig
    config: BoConfig
    capabilities = Capabilities(batch=False, extra="bo", max_samples=200)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("skopt", self.name, "bo")
        space, moves, seen = problem.space, Moves(problem.space), Seen(problem)
        actions = seen.fill(
            lambda n: space.canonical(space.sample(n, rng)),
            self.config.startup,
            lambda n: space.sample(n, rng),
        )
        values = problem.evaluate(actions).values
        model = _Model(space)
        while True:
            if np.isfinite(values).sum() < 5:
                action = space.sample(1, rng)
            else:
                if model.fitted_at + self.config.refit <= len(values) or not model.fitted_at:
                    model.fit_kernels(actions, values)
                model.fit(actions, values)
                action = self._propose(problem, moves, seen, model, actions, values, rng)
            seen.fresh(action)
            actions = np.concatenate([actions, action])
            values = np.concatenate([values, problem.evaluate(action).values])

    def _propose(
        self,
        problem: Problem,
        moves: Moves,
        seen: Seen,
        model: _Model,
        actions: IntArray,
        values: FloatArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """The candidate of the highest acquisition that is not known yet."""
        space = problem.space
        best = actions[np.argsort(values, kind="stable")[:5]]
        parents = best[rng.integers(0, len(best), self.config.local)]
        near = moves.mutate(parents, rng, rate=1.0, far=0.2)
        wide = space.sample(self.config.candidates, rng)
        candidates = space.canonical(np.concatenate([near, wide]))
        for row in np.argsort(-model.acquisition(candidates), kind="stable"):
            if not seen.known(candidates[row : row + 1])[0]:
                return candidates[row : row + 1]
        return candidates[:1]


class _Model:
    """The two Gaussian processes and their kernels."""

    def __init__(self, space: MapSpace) -> None:
        self.space = space
        self.fitted_at = 0
        self._kernels: list[Any] = [None, None]
        self._processes: list[Any] = []
        self._best = 0.0

    def features(self, actions: IntArray) -> FloatArray:
        """``(B, F)``: ordinal parameters in [0, 1], others one column a choice or a loop."""
        columns: list[FloatArray] = []
        for column, parameter in enumerate(self.space.parameters):
            count, loops = len(parameter), len(str(parameter.choices[0]))
            if count == 1:
                continue
            if parameter.ordinal:
                columns.append(actions[:, column : column + 1] / (count - 1))
            elif parameter.kind == "order" and count == math.factorial(loops):
                places = np.argsort(numbered(loops)[actions[:, column]], axis=1)
                columns.append(places / (loops - 1))
            else:
                columns.append((actions[:, column, None] == np.arange(count)).astype(float))
        if not columns:
            return np.zeros((len(actions), 1))
        return np.concatenate(columns, axis=1)

    def _data(self, actions: IntArray, values: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        points, feasible = self.features(actions), np.isfinite(values)
        logs = np.log(values[feasible])
        self._best = float(logs.min())
        return [(points[feasible], logs), (points, feasible.astype(float))]

    def fit_kernels(self, actions: IntArray, values: FloatArray) -> None:
        """Fit length scales and variances by maximum likelihood."""
        for which, (points, targets) in enumerate(self._data(actions, values)):
            if np.ptp(targets) > 0:
                self._kernels[which] = _process(points, targets, None).kernel_
        self.fitted_at = len(values)

    def fit(self, actions: IntArray, values: FloatArray) -> None:
        """Condition the processes on all samples."""
        self._processes = [
            None if np.ptp(targets) == 0 else _process(points, targets, self._kernels[which])
            for which, (points, targets) in enumerate(self._data(actions, values))
        ]

    def acquisition(self, actions: IntArray) -> FloatArray:
        """``(B,)`` expected improvement times the chance of being feasible."""
        from scipy.stats import norm
        from skopt.acquisition import gaussian_ei

        points, (value, feasible) = self.features(actions), self._processes
        gain = np.ones(len(points))
        if value is not None:
            gain = gaussian_ei(points, value, self._best)
        if feasible is not None:
            mean, deviation = feasible.predict(points, return_std=True)
            gain = gain * norm.cdf((mean - 0.5) / np.maximum(deviation, 1e-6))
        return np.asarray(gain)


def _process(points: FloatArray, targets: FloatArray, kernel: Any) -> Any:
    """A fitted process; a given kernel is kept as it is."""
    from skopt.learning import GaussianProcessRegressor
    from skopt.learning.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    keep = kernel is not None
    if kernel is None:
        scales = np.ones(points.shape[1])
        smooth = Matern(length_scale=scales, length_scale_bounds=(0.05, 50.0), nu=2.5)
        kernel = ConstantKernel(1.0, (0.01, 100.0)) * smooth + WhiteKernel(0.01, (1e-6, 1.0))
    process = GaussianProcessRegressor(
        kernel=kernel,
        optimizer=None if keep else "fmin_l_bfgs_b",
        normalize_y=True,
        n_restarts_optimizer=0,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a kernel parameter at its bound is no harm here
        return process.fit(points, targets)
