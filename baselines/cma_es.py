"""CMA-ES on a continuous relaxation of the space, by the `cma` library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.extras import require
from baselines.searcher import BaseSearcher, Capabilities
from maestro_env import ActionSpace, Problem
from marl_common import FloatArray, IntArray


@dataclass(frozen=True)
class CmaEsConfig:
    """Options of :class:`CmaEs`.

    Args:
        population: Samples a generation of the first run.
        sigma: First step size; coordinates lie in [0, 1].
        growth: Factor on the population at every restart (IPOP-CMA-ES has 2).
        largest: Largest population that restarts grow to.
        patience: Generations without improvement before a restart.
    """

    population: int = 60
    sigma: float = 0.3
    growth: float = 1.5
    largest: int = 400
    patience: int = 40

    def __post_init__(self) -> None:
        check_fields(self, ("population", "sigma", "growth", "largest", "patience"))
        for name, least in (("population", 2), ("largest", 2), ("growth", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: got {getattr(self, name)!r}, expected at least {least}")


class Relaxation:
    """Points of a box that stand for actions.

    An ordinal parameter is one coordinate in [0, 1], cut into equal cells; any other parameter has
    a coordinate a choice, and the largest one is taken, so that no choice lies between others.

    Args:
        space: The space.
        most: Choices beyond which a parameter is one coordinate all the same.
    """

    def __init__(self, space: ActionSpace, most: int = 16) -> None:
        self.space = space
        self._columns: list[tuple[int, slice]] = []
        start = 0
        for column, parameter in enumerate(space.parameters):
            if len(parameter) == 1:
                continue
            width = 1 if parameter.ordinal or len(parameter) > most else len(parameter)
            self._columns.append((column, slice(start, start + width)))
            start += width
        self.dimensions = start

    def actions(self, points: FloatArray) -> IntArray:
        """``(B, P)`` actions of ``(B, dimensions)`` points."""
        result = np.zeros((len(points), len(self.space.nvec)), dtype=np.int64)
        for column, part in self._columns:
            block, count = points[:, part], self.space.nvec[column]
            if block.shape[1] == 1:
                cell = np.floor(block[:, 0] * count).astype(np.int64)
                result[:, column] = np.clip(cell, 0, count - 1)
            else:
                result[:, column] = block.argmax(axis=1)
        return result


class CmaEs(BaseSearcher):
    """Covariance matrix adaptation with growing restarts."""

    name = "cma-es"
    source = "Hansen, The CMA evolution strategy: a tutorial; Auger and Hansen, IPOP, CEC 2005"
    Config = CmaEsConfig
    config: CmaEsConfig
    capabilities = Capabilities(extra="bo")

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("cma", self.name, "bo")
        relaxation = Relaxation(problem.space)
        population = float(self.config.population)
        while True:
            if relaxation.dimensions < 2:  # nothing to adapt
                problem.evaluate(problem.space.sample(self.config.population, rng))
                continue
            self._epoch(problem, relaxation, int(population), rng)
            population = min(population * self.config.growth, self.config.largest)

    def _epoch(
        self, problem: Problem, relaxation: Relaxation, population: int, rng: np.random.Generator
    ) -> None:
        import cma

        strategy = cma.CMAEvolutionStrategy(
            rng.random(relaxation.dimensions),
            self.config.sigma,
            {
                "popsize": population,
                "bounds": [0, 1],
                "seed": np.nan,  # no global generator: `randn` below is ours
                "randn": lambda *shape: rng.standard_normal(shape),
                "verbose": -9,
                "verb_log": 0,
                "CMA_stds": None,
            },
        )
        best, stale = np.inf, 0
        while stale < self.config.patience and not strategy.stop():
            points = np.array(strategy.ask())
            values = problem.evaluate(relaxation.actions(points)).values
            strategy.tell(list(points), list(_ranked(values)))
            stale = 0 if values.min() < best else stale + 1
            best = min(best, float(values.min()))


def _ranked(values: FloatArray) -> FloatArray:
    """Logarithms, infeasible ones above all others (CMA-ES uses ranks only)."""
    logs = np.log(np.maximum(values, 1e-300))
    finite = logs[np.isfinite(logs)]
    worst = finite.max() if len(finite) else 0.0
    return np.where(np.isfinite(logs), logs, worst + 1.0)
