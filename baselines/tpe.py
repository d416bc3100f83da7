"""Tree-structured Parzen estimator, by the Optuna library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from baselines.checks import check_fields
from baselines.dedup import Dedup
from baselines.extras import require
from baselines.searcher import BaseSearcher, Capabilities
from baselines.window import batch_size
from maestro_env import Problem
from marl_common import IntArray


@dataclass(frozen=True)
class TpeConfig:
    """Options of :class:`Tpe`.

    Args:
        startup: Random samples before the estimator is used.
        candidates: Candidates for each sample, of which the most promising new one is taken.
        batch: Most samples a call; fewer while few are known.
        window: Most samples that the estimator sees, half of them the best and half the newest.
        multivariate: One density over all parameters instead of one each.
    """

    startup: int = 50
    candidates: int = 24
    batch: int = 32
    window: int = 256
    multivariate: bool = True

    def __post_init__(self) -> None:
        check_fields(self, ("startup", "candidates", "batch", "window"))


class Tpe(BaseSearcher):
    """Optuna's TPE on the logarithm of the objective; a batch is drawn from one estimate.

    Each sample is the most promising of its own candidates whose loop nest was not asked for
    before; a uniform action where all of them were.
    """

    name = "tpe"
    source = "Bergstra et al., Algorithms for hyper-parameter optimization, NeurIPS 2011; Optuna"
    Config = TpeConfig
    config: TpeConfig
    capabilities = Capabilities(extra="bo", warm_up=54)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("optuna", self.name, "bo")
        import optuna

        from baselines.tpe_densities import Densities

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        config, space, dedup = self.config, problem.space, Dedup(problem)

        def anywhere(count: int) -> IntArray:
            found: IntArray = space.canonical(space.sample(count, rng))
            return found

        densities = Densities(space, config.window, config.multivariate, rng)
        batch = dedup.fill(anywhere, config.startup, anywhere)
        while True:
            densities.add(batch, problem.evaluate(batch).values)
            count = batch_size(densities.taken, config.batch)
            groups = densities.draw(count, config.candidates)
            batch = np.concatenate([_first_new(dedup, group, anywhere) for group in groups])


def _first_new(dedup: Dedup, group: IntArray, anywhere: Callable[[int], IntArray]) -> IntArray:
    """``(1, P)``: the first row that was not asked for yet."""
    fresh = group[dedup.fresh(group, most=1)]
    return fresh if len(fresh) else dedup.fill(anywhere, 1, anywhere)
