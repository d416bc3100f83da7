"""Proxy: a dear cost model is asked only for what `exact` and its own former answers single out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import baselines
from baselines import BaseSearcher, Capabilities, Moves, check_positive, nest_features, require
from cost_models import Chain, Cost, ReasonCode
from maestro_env import Evaluation, Problem
from mapper.pretrained.cases import doubts_of
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.weights import agents_of
from mapper.search.correction import Correction
from marl_common import FloatArray, IntArray, record_type

PRICED = "exact"
"""The cheap model."""
PARENTS, CHILDREN, GENERATIONS = 8, 128, 4
"""Best samples, and candidates of which most is expected, from which others are bred; how many, and
how often before the next sample."""
POOL = 512
"""Candidates that are kept: the best by what is expected of them."""
FIRST = 4
"""Samples before candidates are bred: cheap ones, unlike one another, that buffers likely hold."""
SHARES = (1.0, np.inf, 0.5, 0.25)
"""Shares of L1 and L2 that drafts may fill: the dear model may need more than the cheap one, or
less."""
ROOMS = {"l1_bytes": ReasonCode.L1_CAPACITY, "l2_bytes": ReasonCode.L2_CAPACITY}
"""What a mapping takes of a buffer, and why it is refused where that is too much."""
GROWTH = 1.05
"""Factor by which the samples grow between two broods."""
MARGIN = 0.03
"""Improvement, of a logarithm, that is not worth a sample: else the best one's equals are taken."""
CAUTION = 4.0
"""Exponent of the chance that a buffer holds a mapping."""
LEAST, UNIT = 1e-4, 3.0
"""Accesses and cycles a MAC that are no longer told apart from none, and what a logarithm is over
before it stands beside what is in [0, 1]."""
PRIOR, ROOM_PRIOR = 1.0, 0.4
"""Standard deviations before anything is told: of a figure's logarithm, and of a buffer's need."""


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
        return doubts_of(agents_of(self.config.pretrained), _cheap(problem))

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("sklearn", self.name, "rl")
        from threadpoolctl import threadpool_limits

        search = _CorrectedSearch(problem, self.config, rng)
        search.draft()
        with threadpool_limits(1, "blas"):  # threads wait far longer than such matrices take
            for _ in range(FIRST):
                search.sample(search.likeliest())
            while True:
                search.breed()
                search.sample(search.likeliest())


def _cheap(problem: Problem, share: float = 1.0) -> Problem:
    """The same problem priced by `exact`, with a share of L1 and L2 where they are limited.

    A chip without limits has no area: where that is the aim, all of L1 and L2 is the most there is.
    """
    chip, limits = problem.accelerator, dict(problem.limits)
    has_area = "area_um2" in problem.objective.figures
    if not isinstance(chip, Chain) and share > 1 and not has_area:
        chip = replace(chip, **dict.fromkeys(ROOMS))
        limits = {name: limit for name, limit in limits.items() if name[4:] not in ROOMS}
    elif share < 1:
        limits |= {f"max_{name}": share * held for name, held in _rooms(problem).items()}
    return Problem(problem.layer, chip, problem.objective.name, PRICED, problem.space, limits)


def _rooms(problem: Problem) -> dict[str, float]:
    """What L1 and L2 hold [B], where they are limited."""
    chip = problem.accelerator
    found = dict[str, float]()
    for name in () if isinstance(chip, Chain) else ROOMS:
        held = min(problem.limits.get(f"max_{name}", np.inf), getattr(chip, name) or np.inf)
        if np.isfinite(held):
            found[name] = held
    return found


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


def _candidate(parameters: int, features: int) -> Any:
    """The record of a candidate; all figures are logarithms."""
    rooms = "f8", " ".join(ROOMS)
    return record_type(
        ("i8", "action", (parameters,)),
        ("f8", "point", (features,)),
        ("f8", "price value"),
        rooms,
        (record_type(rooms), "needed"),
        ("?", "seen refused"),
    )


class _CorrectedSearch:
    """Candidates with what `exact` says of them, and the samples so far."""

    def __init__(self, problem: Problem, config: ProxyConfig, rng: np.random.Generator) -> None:
        self.problem, self.config, self.rng = problem, config, rng
        self.cheap, self.roomy = _cheap(problem), _cheap(problem, np.inf)
        self.bred = 0
        self.moves, self.correction = Moves(problem.space), Correction(PRIOR, 2)
        self.growth = {name: Correction(ROOM_PRIOR, 1) for name in ROOMS}
        self.allowed = {name: float(np.log(held)) for name, held in _rooms(problem).items()}
        features = self._points(self.roomy.look(self._uniform(1))).shape[1]
        self.pool: Any = np.empty(0, _candidate(len(problem.space.nvec), features))

    def draft(self) -> None:
        """Candidates of the agents and local search under the cheap model, and its optimum."""
        found: list[IntArray] = []

        for share in SHARES:
            search = self._drafted(_cheap(self.problem, share))
            drafts = search.batches(-(-self.config.drafts // len(SHARES)))
            found += [actions for actions, _ in drafts]
        self.add(np.concatenate(found))
        deep = isinstance(self.problem.accelerator, Chain)
        if self.config.proof and not deep and baselines.can_prove(self.cheap) is None:
            optimum = baselines.prove(self.cheap).mapping
            if optimum is not None:
                self.add(self.problem.action_of(optimum))

    def _drafted(self, cheap: Problem) -> ProposalSearch:
        from mapper.pretrained.policy_proposals import search_from

        agents = agents_of(self.config.pretrained)
        if agents is None:
            return ProposalSearch(cheap, lambda drawn: self._uniform(len(drawn)), self.rng)
        return search_from(agents.weights, cheap, self.rng)

    def _uniform(self, count: int) -> IntArray:
        found: IntArray = self.cheap.space.sample(count, self.rng)
        return found

    def add(self, actions: IntArray) -> None:
        """Take candidates that are new and feasible under the cheap model, if buffers were large.

        A mapping that fits has the price of the chip as it is.
        """
        known = {action.tobytes() for action in self.pool["action"]}
        actions = np.unique(self.problem.space.canonical(actions), axis=0)
        actions = actions[[action.tobytes() not in known for action in actions]]
        found, fitting = self.roomy.look(actions), self.cheap.look(actions).values
        new = np.zeros(len(actions), self.pool.dtype)
        new["action"], new["value"] = actions, np.nan
        new["price"] = _log(np.where(np.isfinite(fitting), fitting, found.values))
        for name in ROOMS:
            new[name], new["needed"][name] = _log(getattr(found.costs, name)), np.nan
        new["point"] = self._points(found)
        self.pool = np.concatenate([self.pool, new[np.isfinite(found.values)]])
        if len(self.pool) > POOL + self.pool["seen"].sum():
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
        self.correction.learn(known["point"], known["price"], known["value"])
        for name, growth in self.growth.items():
            if name in self.allowed:
                told = self.pool[np.isfinite(self.pool["needed"][name])]
                growth.learn(told["point"], told[name], told["needed"][name])

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

    def likeliest(self) -> IntArray:
        """``(1,)`` or no candidate: that of which most is expected."""
        merit = np.where(self.pool["seen"], -np.inf, self._merit())
        best = np.argsort(-merit, kind="stable")[:1]
        return best[np.isfinite(merit[best])]

    def breed(self) -> None:
        """Children of the best samples and of the likeliest candidates become candidates."""
        samples = int(self.pool["seen"].sum())
        if samples < self.bred * GROWTH or not samples:
            return
        self.bred = samples
        for _ in range(GENERATIONS):
            values = np.where(self.pool["seen"], self.pool["value"], np.inf)
            best = np.argsort(values, kind="stable")[:PARENTS]
            merit = np.where(self.pool["seen"], -np.inf, self._merit())
            likely = np.argsort(-merit, kind="stable")[:PARENTS]
            parents = np.concatenate([best[np.isfinite(values[best])], likely])
            pairs = self.rng.choice(parents, (2, CHILDREN))
            first, second = self.pool["action"][pairs]
            crossed = self.moves.crossover(first, second, self.rng)
            half = self.rng.random((CHILDREN, 1)) < 0.5
            self.add(self.moves.mutate(np.where(half, crossed, first), self.rng))

    def _merit(self) -> FloatArray:
        """``(n,)`` log of the expected improvement, times the chance that buffers hold it.

        Before two samples are feasible, cheap candidates unlike them are worth most.
        """
        from scipy.stats import norm

        points, pool = self.pool["point"], self.pool
        merit: FloatArray
        if self.correction.ready:
            mean, spread = self.correction.expect(points, pool["price"])
            best = pool["value"][pool["seen"] & np.isfinite(pool["value"])].min()
            gain = (best - MARGIN - mean) / spread
            merit = np.log(spread) + np.log(
                np.maximum(gain * norm.cdf(gain) + norm.pdf(gain), 1e-300)
            )
        else:
            merit = -pool["price"]
            if pool["seen"].any():
                merit = merit + _log(_apart(points, points[pool["seen"]]))
        for name, held in self.allowed.items():
            mean, spread = self.growth[name].expect(points, pool[name])
            merit = merit + CAUTION * norm.logcdf((held - mean) / spread)
        return merit

    def _points(self, found: Evaluation) -> FloatArray:
        """``(n, F)``: the nests, and what they move and wait for under the cheap model, as logs."""
        costs, ways = found.costs, list[FloatArray]()
        ways += [moved for kinds in costs.accesses.values() for moved in kinds.values()]
        shares = [share for name, share in costs.detail.items() if name.startswith("share_")]
        ways += [share * costs.column("latency_cycles") for share in shares]
        with np.errstate(invalid="ignore"):
            logs = np.log(np.stack(ways, axis=1) / self.problem.layer.macs + LEAST) / UNIT
        return np.concatenate([nest_features(self.problem, found.mappings), logs], axis=1)
