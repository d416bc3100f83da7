"""Proxy: a dear cost model is asked only for what `exact` and its own former answers single out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import baselines
from baselines import BaseSearcher, Capabilities, Moves, check_positive, nest_features, require
from cost_models import Chain, Cost, ReasonCode
from maestro_env import Evaluation, Problem
from mapper.pretrained.cases import doubts_of
from mapper.pretrained.local_search import ProposalSearch
from marl_common import FloatArray, IntArray

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
SHARES = (1.0, 0.7, 0.5)
"""Shares of L1 and L2 that drafts may fill: the dear model may need more than the cheap one."""
ROOMS = {"l1_bytes": ReasonCode.L1_CAPACITY, "l2_bytes": ReasonCode.L2_CAPACITY}
"""What a mapping takes of a buffer, and why it is refused where that is too much."""
SAMPLES = 4
"""Samples between two broods."""
FITTED = 24
"""Samples from which on the kernel is fitted: fewer make it too sure."""
GROWTH = 1.3
"""Factor by which the samples grow between two fits of the kernel."""
INFEASIBLE = 1.0
"""How far above the worst sample one counts that no buffer refuses; a logarithm."""
NOISE = 1e-3
"""Variance of what nests do not tell."""
PRIOR = 1.0
"""Standard deviation of the logarithm that is not explained yet, at first."""


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
            for _ in range(SAMPLES):
                search.sample(search.likeliest())


def _cheap(problem: Problem, share: float = 1.0) -> Problem:
    """The same problem priced by `exact`, with a share of L1 and L2 where they are limited."""
    chip, limits = problem.accelerator, dict(problem.limits)
    for name in () if isinstance(chip, Chain) or share == 1.0 else ROOMS:
        held = min(limits.get(f"max_{name}", np.inf), getattr(chip, name) or np.inf)
        if np.isfinite(held):
            limits[f"max_{name}"] = share * held
    return Problem(problem.layer, chip, problem.objective.name, PRICED, problem.space, limits)


def _log(values: FloatArray) -> FloatArray:
    """Logarithms; -inf, inf and nan stay."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = np.log(values)
    return found


def _apart(points: FloatArray, others: FloatArray) -> FloatArray:
    """``(n,)`` distance of each point to the nearest of some others."""
    from sklearn.metrics import pairwise_distances_argmin_min

    apart: FloatArray = pairwise_distances_argmin_min(points, others)[1]
    return apart


def _candidate(parameters: int) -> Any:
    """The record of a candidate; all figures are logarithms."""
    rooms = [(name, "f8") for name in ROOMS]
    return np.dtype(
        [
            ("action", "i8", (parameters,)),
            ("price", "f8"),
            *rooms,
            ("value", "f8"),
            ("needed", rooms),
            ("seen", "?"),
            ("refused", "?"),
        ],
        align=True,
    )


class _CorrectedSearch:
    """Candidates with what `exact` says of them, and the samples so far."""

    def __init__(self, problem: Problem, config: ProxyConfig, rng: np.random.Generator) -> None:
        self.problem, self.cheap, self.config, self.rng = problem, _cheap(problem), config, rng
        self.moves, self.correction = Moves(problem.space), _Correction()
        self.growth = {name: _Correction() for name in ROOMS}
        self.allowed = dict.fromkeys(ROOMS, np.inf)
        self.pool: Any = np.empty(0, _candidate(len(problem.space.nvec)))

    def draft(self) -> None:
        """Candidates of the agents and local search under the cheap model, and its optimum."""
        found: list[IntArray] = []

        def heard(actions: IntArray, evaluation: Evaluation) -> None:
            found.append(actions)

        for share in SHARES:
            cheap = _cheap(self.problem, share)
            self._drafted(cheap, heard).run(-(-self.config.drafts // len(SHARES)))
        self.add(np.concatenate(found))
        deep = isinstance(self.problem.accelerator, Chain)
        if self.config.proof and not deep and baselines.can_prove(self.cheap) is None:
            optimum = baselines.prove(self.cheap).mapping
            if optimum is not None:
                self.add(self.problem.action_of(optimum))

    def _drafted(self, cheap: Problem, heard: Any) -> ProposalSearch:
        from mapper.pretrained.policy import MappingPolicy
        from mapper.pretrained.policy_proposals import search_from
        from mapper.pretrained.weights import agents_of

        agents = agents_of(self.config.pretrained, PRICED)
        if agents is None:
            return ProposalSearch(cheap, self._uniform, self.rng, heard)
        return search_from(MappingPolicy(agents.weights), cheap, self.rng, heard)

    def _uniform(self, count: int) -> IntArray:
        found: IntArray = self.cheap.space.sample(count, self.rng)
        return found

    def add(self, actions: IntArray) -> None:
        """Take candidates that are new and feasible under the cheap model."""
        known = {action.tobytes() for action in self.pool["action"]}
        actions = np.unique(self.problem.space.canonical(actions), axis=0)
        actions = actions[[action.tobytes() not in known for action in actions]]
        found = self.cheap.look(actions)
        new = np.zeros(len(actions), self.pool.dtype)
        new["action"], new["price"], new["value"] = actions, _log(found.values), np.nan
        for name in ROOMS:
            new[name], new["needed"][name] = _log(getattr(found.costs, name)), np.nan
        self.pool = np.concatenate([self.pool, new[np.isfinite(found.values)]])
        if self.correction.ready and len(self.pool) > POOL + self.pool["seen"].sum():
            merit = np.where(self.pool["seen"], np.inf, self._merit())
            kept = np.argsort(-merit, kind="stable")[: POOL + self.pool["seen"].sum()]
            self.pool = self.pool[np.sort(kept)]

    def sample(self, rows: IntArray) -> None:
        """Ask the dear model about candidates; about any mapping where none is left."""
        if not len(rows):
            self.problem.evaluate(self._uniform(1))
            return
        self.pool["seen"][rows] = True
        evaluation = self.problem.evaluate(self.pool["action"][rows])
        self.pool["value"][rows] = _log(evaluation.values)
        for row, cost in zip(rows, evaluation.costs, strict=True):
            self._hear_rooms(row, cost)
        known = self.pool[self.pool["seen"] & ~self.pool["refused"]]
        self.correction.learn(self._points(known), known["price"], known["value"])
        for name, growth in self.growth.items():
            if np.isfinite(self.allowed[name]):
                told = self.pool[np.isfinite(self.pool["needed"][name])]
                growth.learn(self._points(told), told[name], told["needed"][name])

    def _hear_rooms(self, row: int, cost: Cost) -> None:
        """Note what a sample takes of buffers under the dear model, and what they hold."""
        for name, code in ROOMS.items():
            need: float | None = getattr(cost, name)
            if cost.infeasible is not None:
                report = cost.infeasible if cost.infeasible.code == code else None
                need = report.demand if report else None
                if report and report.demand and report.bound:
                    self.allowed[name] = float(np.log(report.bound))
                    self.pool["refused"][row] = True
            if need and np.isfinite(need):
                self.pool["needed"][name][row] = np.log(need)

    def unlike(self, count: int) -> IntArray:
        """The best candidate, and those near it in price that are least like one another."""
        if not len(self.pool):
            return np.empty(0, np.int64)
        prices = self.pool["price"]
        near = np.flatnonzero(prices <= prices.min() + np.log(NEAR))
        points, picked = self._points(self.pool[near]), [int(np.argmin(prices[near]))]
        while len(picked) < min(count, len(near)):
            picked.append(int(np.argmax(_apart(points, points[picked]))))
        return near[np.unique(picked)]

    def likeliest(self) -> IntArray:
        """``(1,)`` or no candidate: that of which most is expected."""
        merit = np.where(self.pool["seen"], -np.inf, self._merit())
        best = np.argsort(-merit, kind="stable")[:1]
        return best[np.isfinite(merit[best])]

    def breed(self) -> None:
        """Children of the best samples become candidates."""
        values = np.where(self.pool["seen"], self.pool["value"], np.inf)
        best = np.argsort(values, kind="stable")[:PARENTS]
        best = best[np.isfinite(values[best])]
        if len(best):
            first, second = (self.pool["action"][self.rng.choice(best, CHILDREN)] for _ in range(2))
            crossed = self.moves.crossover(first, second, self.rng)
            half = self.rng.random((CHILDREN, 1)) < 0.5
            self.add(self.moves.mutate(np.where(half, crossed, first), self.rng))

    def _merit(self) -> FloatArray:
        """``(n,)`` log of the expected improvement, times the chance that buffers hold it.

        Before two samples are feasible, cheap candidates unlike them are worth most.
        """
        from scipy.stats import norm

        points, pool = self._points(self.pool), self.pool
        merit: FloatArray
        if self.correction.ready:
            mean, spread = self.correction.expect(points, pool["price"])
            gain = (pool["value"][pool["seen"] & np.isfinite(pool["value"])].min() - mean) / spread
            merit = np.log(spread) + np.log(
                np.maximum(gain * norm.cdf(gain) + norm.pdf(gain), 1e-300)
            )
        else:
            merit = -pool["price"]
            if pool["seen"].any():
                merit = merit + _log(_apart(points, points[pool["seen"]]))
        for name, growth in self.growth.items():
            if growth.ready:
                mean, spread = growth.expect(points, pool[name])
                merit = merit + norm.logcdf((self.allowed[name] - mean) / spread)
        return merit

    def _points(self, rows: Any) -> FloatArray:
        return nest_features(self.problem, self.problem.space.decode(rows["action"]))


class _Correction:
    """Log of the dear figure as a share of the cheap one, plus a Gaussian process over the nest."""

    def __init__(self) -> None:
        self.slope, self.mean, self.fitted = 1.0, 0.0, 0
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
        if good.sum() < 2:
            return
        off, apart = (values - prices)[good], prices[good] - prices[good].mean()
        self.slope = 1.0 + float(apart @ off / (apart @ apart + 1.0))
        worst = values[good].max() + INFEASIBLE
        targets = np.where(good, values, worst) - self.slope * prices
        self.mean = float(targets.mean())
        kernel = ConstantKernel(PRIOR**2, (PRIOR**2 / 10, 10.0)) * Matern(3.0, (0.3, 30.0), 2.5)
        optimizer = None
        if self._process is not None:
            kernel = self._process.kernel_
        if len(values) >= max(FITTED, GROWTH * self.fitted):
            self.fitted, optimizer = len(values), "fmin_l_bfgs_b"
        process = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process = process.fit(points, targets - self.mean)

    def expect(self, points: FloatArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``(n,)`` the expected logs, and their standard deviations."""
        mean, spread = self._process.predict(points, return_std=True)
        return self.slope * prices + self.mean + mean, np.maximum(spread, NOISE)
