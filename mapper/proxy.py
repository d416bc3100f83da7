"""Proxy: a dear cost model is asked only for what `exact` and its own former answers single out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import baselines
from baselines import BaseSearcher, Capabilities, Moves, check_positive, nest_features, require
from cost_models import Chain
from maestro_env import Evaluation, Problem
from mapper.pretrained.cases import doubts_of
from mapper.pretrained.local_search import ProposalSearch
from marl_common import BoolArray, FloatArray, IntArray

PRICED = "exact"
"""The cheap model."""
PARENTS, CHILDREN = 8, 64
"""Best samples from which candidates are bred each round, and how many."""
POOL = 512
"""Candidates that are kept: the best by what is expected of them."""
FIRST = 4
"""Samples before anything is learnt: the best under the cheap model and three unlike it."""
NEAR = 1.5
"""How far above the best the unlike ones may lie under the cheap model."""
BOLD = (0.0, 0.0, 1.0, 2.0)
"""Standard deviations by which candidates are favoured, one sample after the other."""
GROWTH = 1.3
"""Factor by which the samples grow between two fits of the kernel."""
INFEASIBLE = 1.0
"""How far above the worst sample an infeasible one counts, as a logarithm."""


@dataclass(frozen=True)
class ProxyConfig:
    """Options of :class:`Proxy`.

    Args:
        pretrained: Agents that propose candidates, as of `zero-shot`; ``"none"`` for uniform ones.
        drafts: Mappings that are priced by the cheap model before the first sample.
        proof: Whether the optimum under the cheap model is proven, on a chip of two levels.
    """

    pretrained: str = "auto"
    drafts: int = 2000
    proof: bool = True

    def __post_init__(self) -> None:
        check_positive(drafts=self.drafts)


class Proxy(BaseSearcher):
    """Search under `exact`, corrected by what a dear cost model said of the samples so far."""

    name = "proxy"
    source = "multi-fidelity correction (Kennedy and O'Hagan, Biometrika 2000); scikit-learn"
    Config = ProxyConfig
    config: ProxyConfig
    capabilities = Capabilities(batch=False, extra="rl", on_request=True)

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the agents were not trained for."""
        super().doubts(problem)
        return doubts_of(self.config.pretrained, _cheap(problem))

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("sklearn", self.name, "rl")
        search = _CorrectedSearch(problem, self.config, rng)
        search.draft()
        search.sample(search.unlike(FIRST))
        while True:
            search.breed()
            for bold in BOLD:
                search.sample(search.likeliest(bold))


def _cheap(problem: Problem) -> Problem:
    """The same problem priced by `exact`."""
    parts = problem.layer, problem.accelerator, problem.objective.name
    return Problem(*parts, PRICED, problem.space, problem.limits)


class _CorrectedSearch:
    """Candidates with what `exact` says of them, and the samples so far."""

    def __init__(self, problem: Problem, config: ProxyConfig, rng: np.random.Generator) -> None:
        self.problem, self.cheap, self.config, self.rng = problem, _cheap(problem), config, rng
        self.moves, self.correction = Moves(problem.space), _Correction()
        self.actions: IntArray = np.empty((0, len(problem.space.nvec)), np.int64)
        self.prices: FloatArray = np.empty(0)
        self.seen: BoolArray = np.empty(0, np.bool_)
        self.values: FloatArray = np.empty(0)

    def draft(self) -> None:
        """Candidates of the agents and local search under the cheap model, and its optimum."""
        found: list[IntArray] = []

        def heard(actions: IntArray, evaluation: Evaluation) -> None:
            found.append(actions)

        self.cheap.start()
        self._drafted(heard).run(self.config.drafts)
        self.add(np.concatenate(found))
        deep = isinstance(self.problem.accelerator, Chain)
        if self.config.proof and not deep and baselines.can_prove(self.cheap) is None:
            optimum = baselines.prove(self.cheap).mapping
            if optimum is not None:
                self.add(self.problem.action_of(optimum))

    def _drafted(self, heard: Any) -> ProposalSearch:
        from mapper.pretrained.policy import MappingPolicy
        from mapper.pretrained.policy_proposals import search_from
        from mapper.pretrained.weights import agents_of

        agents = agents_of(self.config.pretrained, PRICED)
        if agents is None:
            return ProposalSearch(self.cheap, self._uniform, self.rng, heard)
        return search_from(MappingPolicy(agents.weights), self.cheap, self.rng, heard)

    def _uniform(self, count: int) -> IntArray:
        found: IntArray = self.cheap.space.sample(count, self.rng)
        return found

    def add(self, actions: IntArray) -> None:
        """Take candidates that are new and feasible under the cheap model."""
        known = {action.tobytes() for action in self.actions}
        actions = np.unique(self.problem.space.canonical(actions), axis=0)
        actions = actions[[action.tobytes() not in known for action in actions]]
        prices = self.cheap.look(actions).values
        actions, prices = actions[np.isfinite(prices)], prices[np.isfinite(prices)]
        self.actions = np.concatenate([self.actions, actions])
        self.prices = np.concatenate([self.prices, np.log(prices)])
        self.seen = np.concatenate([self.seen, np.zeros(len(actions), np.bool_)])
        self.values = np.concatenate([self.values, np.full(len(actions), np.nan)])
        self._trim()

    def _trim(self) -> None:
        """Keep the samples, and the candidates of which most is expected."""
        if self.correction.ready and len(self.actions) > POOL + self.seen.sum():
            expected = np.where(self.seen, -np.inf, self._expected(0.0))
            kept = np.sort(np.argsort(expected, kind="stable")[: POOL + self.seen.sum()])
            self.actions, self.prices = self.actions[kept], self.prices[kept]
            self.seen, self.values = self.seen[kept], self.values[kept]

    def sample(self, rows: IntArray) -> None:
        """Ask the dear model about candidates; about any mapping where none is left."""
        if not len(rows):
            self.problem.evaluate(self._uniform(1))
            return
        self.seen[rows] = True
        values = self.problem.evaluate(self.actions[rows]).values
        self.values[rows] = np.where(np.isfinite(values), np.log(values), np.inf)
        self.correction.learn(
            self._points(self.seen), self.prices[self.seen], self.values[self.seen]
        )

    def unlike(self, count: int) -> IntArray:
        """The best candidate, and those near it in price that are least like one another."""
        if not len(self.actions):
            return np.empty(0, np.int64)
        near = np.flatnonzero(self.prices <= self.prices.min() + np.log(NEAR))
        points, picked = self._points(near), [int(np.argmin(self.prices[near]))]
        while len(picked) < min(count, len(near)):
            picked.append(int(np.argmax(self._apart(points, points[picked]))))
        return near[np.unique(picked)]

    def likeliest(self, bold: float) -> IntArray:
        """``(1,)`` or no candidate: that of which most is expected, where it is unsure the more.

        Before two samples are feasible it is the one that is least like all samples.
        """
        if self.correction.ready or not self.seen.any():
            expected = self._expected(bold)
        else:
            expected = -self._apart(self._points(slice(None)), self._points(self.seen))
        expected = np.where(self.seen, np.inf, expected)
        best = np.argsort(expected, kind="stable")[:1]
        return best[np.isfinite(expected[best])]

    def breed(self) -> None:
        """Children of the best samples become candidates."""
        best = np.argsort(np.where(self.seen, self.values, np.inf), kind="stable")[:PARENTS]
        best = best[np.isfinite(self.values[best])]
        if len(best):
            first, second = (self.actions[self.rng.choice(best, CHILDREN)] for _ in range(2))
            crossed = self.moves.crossover(first, second, self.rng)
            self.add(
                self.moves.mutate(
                    np.where(self.rng.random((CHILDREN, 1)) < 0.5, crossed, first), self.rng
                )
            )

    def _apart(self, points: FloatArray, others: FloatArray) -> FloatArray:
        """``(n,)`` distance of each point to the nearest of some others."""
        from sklearn.metrics import pairwise_distances_argmin_min

        apart: FloatArray = pairwise_distances_argmin_min(points, others)[1]
        return apart

    def _expected(self, bold: float) -> FloatArray:
        return self.correction.expect(self._points(slice(None)), self.prices, bold)

    def _points(self, rows: Any) -> FloatArray:
        return nest_features(self.problem, self.problem.space.decode(self.actions[rows]))


class _Correction:
    """Log of the dear value as a share of the log price, plus a Gaussian process over the nest."""

    def __init__(self) -> None:
        self.slope, self.fitted = 1.0, 0
        self._process: Any = None

    @property
    def ready(self) -> bool:
        """Whether it has learnt from anything."""
        return self._process is not None

    def learn(self, points: FloatArray, prices: FloatArray, values: FloatArray) -> None:
        """Take all samples so far: ``(n, F)``, ``(n,)`` logs; a value of inf is infeasible."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        good = np.isfinite(values)
        if good.sum() < 2:
            return
        off, apart = (values - prices)[good], prices[good] - prices[good].mean()
        self.slope = 1.0 + float(apart @ off / (apart @ apart + 1.0))
        worst = values[good].max() + INFEASIBLE
        targets = np.where(good, values, worst) - self.slope * prices
        kernel, optimizer = (
            ConstantKernel() * Matern(3.0, (0.3, 30.0), 2.5) + WhiteKernel(1e-2),
            None,
        )
        if self._process is not None:
            kernel = self._process.kernel_
        if len(values) >= GROWTH * self.fitted:
            self.fitted, optimizer = len(values), "fmin_l_bfgs_b"
        process = GaussianProcessRegressor(kernel, optimizer=optimizer, normalize_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process = process.fit(points, targets)

    def expect(self, points: FloatArray, prices: FloatArray, bold: float) -> FloatArray:
        """``(n,)`` the expected log, less `bold` standard deviations."""
        if self._process is None:
            return prices
        mean, spread = self._process.predict(points, return_std=True)
        expected: FloatArray = self.slope * prices + mean - bold * spread
        return expected
