"""Tree-structured Parzen estimator, by the Optuna library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.extras import require
from baselines.searcher import BaseSearcher, Capabilities, positive
from maestro_env import MapSpace, Problem


@dataclass(frozen=True)
class TpeConfig:
    """Options of :class:`Tpe`.

    Args:
        startup: Random samples before the estimator is used.
        candidates: Candidates a step, of which the most promising is taken.
        attempts: Suggestions in a row that may repeat a known mapping, whose value is told again
            for nothing, before the repetition is evaluated.
        multivariate: One density over all parameters instead of one each.
    """

    startup: int = 50
    candidates: int = 32
    attempts: int = 3
    multivariate: bool = True

    def __post_init__(self) -> None:
        positive(startup=self.startup, candidates=self.candidates, attempts=self.attempts)


class Tpe(BaseSearcher):
    """Optuna's TPE on the logarithm of the objective, one sample at a time.

    A step costs time in proportion to the samples so far, so it stops after 1,000.
    """

    name = "tpe"
    source = "Bergstra et al., Algorithms for hyper-parameter optimization, NeurIPS 2011; Optuna"
    Config = TpeConfig
    config: TpeConfig
    capabilities = Capabilities(batch=False, extra="bo", max_samples=1000)

    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        require("optuna", self.name, "bo")
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(
            seed=int(rng.integers(2**31)),
            n_startup_trials=self.config.startup,
            n_ei_candidates=self.config.candidates,
            multivariate=self.config.multivariate,
        )
        study = optuna.create_study(sampler=sampler)
        space = problem.space
        distributions = _distributions(space)
        known: dict[bytes, float] = {}
        while True:
            for attempt in range(self.config.attempts):
                trial = study.ask(distributions)
                action = np.zeros(len(space.nvec), dtype=np.int64)
                for column, name in enumerate(space.names):
                    if name in distributions:
                        action[column] = trial.params[name]
                action = space.canonical(action[None])
                if action.tobytes() not in known or attempt == self.config.attempts - 1:
                    value = float(problem.evaluate(action).values[0])
                    known[action.tobytes()] = np.log(value) if np.isfinite(value) else np.inf
                study.tell(trial, known[action.tobytes()])


def _distributions(space: MapSpace) -> dict[str, Any]:
    """Optuna's distributions of the parameters that have a choice."""
    import optuna

    found: dict[str, Any] = {}
    for parameter in space.parameters:
        if len(parameter) == 1:
            continue
        if parameter.ordinal:
            found[parameter.name] = optuna.distributions.IntDistribution(0, len(parameter) - 1)
        else:
            choices = list(range(len(parameter)))
            found[parameter.name] = optuna.distributions.CategoricalDistribution(choices)
    return found
