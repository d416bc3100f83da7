"""Bayesian optimisation with Gaussian processes, by BoTorch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.extras import require
from baselines.features import nest_features
from baselines.operators import Moves
from baselines.searcher import BaseSearcher, Capabilities
from baselines.torch_threads import one_thread
from baselines.window import batch_size, best_and_newest
from maestro_env import Problem
from marl_common import FloatArray, IntArray

FEASIBLE = 5
"""Feasible samples before the model is used."""
BLIND = 8
"""Uniform samples a call until then."""
PROMISING, DRAWS = 200, 128
"""Candidates of which a batch is chosen, and functions drawn at them."""


@dataclass(frozen=True)
class BoConfig:
    """Options of :class:`BayesianOptimisation`.

    Args:
        startup: Random samples before the model is used (more, until five are feasible).
        candidates: Random candidates a call.
        local: Further candidates a call, mutations of the best samples.
        batch: Most samples a call; fewer while few are known.
        window: Samples that the model sees: the newest half and the best of the others.
        growth: Factor by which the samples grow between two fits of the kernels; its square once
            the window is full.
    """

    startup: int = 30
    candidates: int = 250
    local: int = 250
    batch: int = 32
    window: int = 256
    growth: float = 1.1

    def __post_init__(self) -> None:
        check_fields(self, ("startup", "candidates", "local", "batch", "window"))
        if not self.growth > 1.0:
            raise ValueError(f"growth: got {self.growth!r}, expected more than 1")


class BayesianOptimisation(BaseSearcher):
    """Expected improvement on the logarithm of the objective, times the chance of being feasible.

    One process models the feasible values, a second one feasibility (Gardner et al., ICML 2014),
    both on numbers that describe the loop nest. The samples of a batch are chosen one after the
    other, each for what it adds to those before it, over functions drawn from the first process.
    """

    name = "bo"
    source = (
        "Jones et al., Efficient global optimization, 1998; Wilson et al., Maximizing acquisition "
        "functions for Bayesian optimization, NeurIPS 2018 (batches); BoTorch"
    )
    Config = BoConfig
    config: BoConfig
    capabilities = Capabilities(extra="bo", warm_up=34)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("botorch", self.name, "bo")
        with one_thread():
            _Search(problem, self.config, rng).run()


class _Search:
    """One search: its window of samples and its two processes."""

    def __init__(self, problem: Problem, config: BoConfig, rng: np.random.Generator) -> None:
        from baselines.gaussian_process import GaussianProcess

        self.problem, self.config, self.rng = problem, config, rng
        self.moves, self.dedup = Moves(problem.space), Dedup(problem)
        self.taken = self.fitted = 0
        self.actions: IntArray = np.empty((0, len(problem.space.nvec)), np.int64)
        self.values: FloatArray = np.empty(0)
        self.value, self.feasibility = GaussianProcess(), GaussianProcess()

    def run(self) -> None:
        """Ask until the budget is used up."""
        batch = self.dedup.fill(self._anywhere, self.config.startup, self._anywhere)
        while True:
            self._add(batch, self.problem.evaluate(batch).values)
            if np.isfinite(self.values).sum() < FEASIBLE:
                batch = self.dedup.fill(self._anywhere, BLIND, self._anywhere)
            else:
                batch = self._promising()

    def _anywhere(self, count: int) -> IntArray:
        found: IntArray = self.problem.space.canonical(self.problem.space.sample(count, self.rng))
        return found

    def _features(self, actions: IntArray) -> FloatArray:
        return nest_features(self.problem, self.problem.space.decode(actions))

    def _add(self, actions: IntArray, values: FloatArray) -> None:
        self.taken += len(values)
        every = np.concatenate([self.values, values])
        kept = best_and_newest(every, self.config.window)
        self.actions = np.concatenate([self.actions, actions])[kept]
        self.values = every[kept]

    def _promising(self) -> IntArray:
        """A batch that was not asked for yet, of the highest acquisition."""
        count = batch_size(self.taken, self.config.batch)
        candidates = self._candidates()
        if len(candidates) < count:
            return self.dedup.fill(self._anywhere, count, self._anywhere)
        picked = candidates[self._pick(self._features(candidates), count)]
        self.dedup.fresh(picked)
        return picked

    def _candidates(self) -> IntArray:
        """Mutations of the best samples and random actions; no nest twice, none asked for."""
        best = self.actions[np.argsort(self.values, kind="stable")[:5]]
        parents = best[self.rng.integers(0, len(best), self.config.local)]
        near = self.moves.mutate(parents, self.rng, rate=1.0, far=0.2)
        wide = self._anywhere(self.config.candidates)
        candidates: IntArray = self.problem.space.canonical(np.concatenate([near, wide]))
        return candidates[self.dedup.distinct(self.problem.space.decode(candidates))]

    def _pick(self, points: FloatArray, count: int) -> IntArray:
        """``(count,)`` rows of ``(B, F)`` points that improve the most together."""
        from baselines.gaussian_process import joint_draws

        best, chance = self._condition(points)
        mean, covariance = self.value.predict(points)
        gain = _expected_improvement(best, mean, covariance) * chance
        order = np.lexsort((mean, -gain))
        if count == 1:
            return order[:1]
        pool = order[:PROMISING]
        drawn = joint_draws(mean[pool], covariance[np.ix_(pool, pool)], DRAWS, self.rng)
        return pool[_greedy(drawn, chance[pool], best, count, self.rng)]

    def _condition(self, points: FloatArray) -> tuple[float, FloatArray]:
        """Teach both processes the window; its best log, and each point's chance to be feasible."""
        growth = self.config.growth ** (2 if self.taken > self.config.window else 1)
        fit = self.taken >= growth * self.fitted
        self.fitted = self.taken if fit else self.fitted
        seen, feasible = self._features(self.actions), np.isfinite(self.values)
        logs = np.log(self.values[feasible])
        self.value.condition(seen[feasible], logs, fit)
        if feasible.all():
            return float(logs.min()), np.ones(len(points))
        self.feasibility.condition(seen, feasible.astype(np.float64), fit)
        # the probability that a process of 0 and 1 is above the middle
        mean, covariance = self.feasibility.predict(points)
        return float(logs.min()), norm.cdf((mean - 0.5) / _deviation(covariance))


def _deviation(covariance: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(np.diag(covariance), 1e-12))


def _expected_improvement(best: float, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """``(B,)``, in closed form (Jones et al., eq. 15)."""
    deviation = _deviation(covariance)
    z = (best - mean) / deviation
    gain: FloatArray = deviation * (z * norm.cdf(z) + norm.pdf(z))
    return gain


def _greedy(
    drawn: FloatArray, chance: FloatArray, best: float, count: int, rng: np.random.Generator
) -> IntArray:
    """Rows of a batch, each the one that lowers the drawn functions' best the most.

    Args:
        drawn: ``(B, S)`` functions, the candidates sorted by their own acquisition.
        chance: ``(B,)`` chance of each to be feasible.
        best: Best value so far.
        count: Rows to take; ``count <= B``.
        rng: Decides whether a picked candidate is feasible in a drawn function.

    Returns:
        ``(count,)`` rows.
    """
    levels = np.full(drawn.shape[1], best)
    left = np.ones(len(drawn), dtype=np.bool_)
    picked = np.empty(count, np.int64)
    for place in range(count):
        gains = np.maximum(levels - drawn, 0.0).mean(axis=1) * chance
        row = int(np.argmax(np.where(left, gains, -1.0)))
        left[row] = False
        picked[place] = row
        feasible = rng.random(len(levels)) < chance[row]
        levels = np.where(feasible, np.minimum(levels, drawn[row]), levels)
    return picked
