"""Where good and bad samples lie, as Optuna's Parzen estimators have it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from baselines.window import best_and_newest
from maestro_env import ActionSpace
from marl_common import FloatArray, IntArray


class Densities:
    """The densities of the better and of the other samples, and candidates from the former.

    Optuna's sampler estimates both for each trial that it suggests, at 12 ms and more. Here one
    estimate serves a batch, whose candidates are what the sampler ranks for a single trial.

    Args:
        space: The space.
        window: Most samples to estimate from.
        multivariate: One density over all parameters instead of one each.
        rng: Seeds the sampler.

    Attributes:
        taken: Samples added so far.
    """

    def __init__(
        self, space: ActionSpace, window: int, multivariate: bool, rng: np.random.Generator
    ) -> None:
        self.space, self.window, self.multivariate = space, window, multivariate
        self.rng, self.taken = rng, 0
        self._distributions = _distributions(space)
        self._columns = [space.names.index(name) for name in self._distributions]
        self._actions: IntArray = np.empty((0, len(space.nvec)), np.int64)
        self._values: FloatArray = np.empty(0)
        self._begin()

    def _begin(self) -> None:
        """An empty study; a sampler remembers the study it is for."""
        self._sampler = _Candidates(self.multivariate, int(self.rng.integers(2**31)))
        self._study = optuna.create_study(sampler=self._sampler)

    def add(self, actions: IntArray, values: FloatArray) -> None:
        """Take ``(B, P)`` actions and their ``(B,)`` values, inf where infeasible."""
        self.taken += len(values)
        self._actions = np.concatenate([self._actions, actions])
        self._values = np.concatenate([self._values, values])
        if len(self._values) > self.window:
            kept = best_and_newest(self._values, self.window // 2)
            self._actions, self._values = self._actions[kept], self._values[kept]
            self._begin()
            actions, values = self._actions, self._values
        with np.errstate(divide="ignore"):
            logs = np.log(values)
        for action, value in zip(actions.tolist(), logs.tolist(), strict=True):
            chosen = {name: action[column] for name, column in self._named()}
            self._study.add_trial(
                optuna.trial.create_trial(
                    params=chosen, distributions=self._distributions, value=value
                )
            )

    def _named(self) -> Any:
        return zip(self._distributions, self._columns, strict=True)

    def draw(self, groups: int, candidates: int) -> IntArray:
        """``(groups, candidates, P)`` actions from the better density, in each group best first."""
        space = self.space
        actions = np.zeros((groups * candidates, len(space.nvec)), np.int64)
        if self._distributions:
            samples, gains = self._sampler.draw(self._study, self._distributions, len(actions))
            for name, column in self._named():
                actions[:, column] = samples[name].astype(np.int64)
        else:
            gains = np.zeros(len(actions))
        order = np.argsort(-gains.reshape(groups, candidates), axis=1, kind="stable")
        grouped = space.canonical(actions).reshape(groups, candidates, -1)
        return np.take_along_axis(grouped, order[:, :, None], axis=1)


class _Candidates(optuna.samplers.TPESampler):
    """The sampler, with what it ranked for a trial."""

    def __init__(self, multivariate: bool, seed: int) -> None:
        with warnings.catch_warnings(action="ignore"):
            # `multivariate` was an experiment up to Optuna 4
            super().__init__(
                n_startup_trials=1, multivariate=multivariate, seed=seed, constant_liar=False
            )
        self._ranked: list[tuple[dict[str, FloatArray], FloatArray]] = []

    def draw(
        self, study: optuna.Study, distributions: dict[str, BaseDistribution], count: int
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """`count` candidates: a column a parameter, and the log of the densities' ratio."""
        self._n_ei_candidates = count
        self._ranked.clear()
        trial = study.ask(distributions)
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        samples: dict[str, FloatArray] = {}
        for part, _ in self._ranked:  # one with all parameters, or one for each
            samples |= part
        gains: FloatArray = np.sum([gain for _, gain in self._ranked], axis=0)
        return samples, gains

    def _compute_acquisition_func(self, samples: Any, below: Any, above: Any) -> FloatArray:
        gains: FloatArray = super()._compute_acquisition_func(samples, below, above)
        self._ranked.append((dict(samples), gains))
        return gains


def _distributions(space: ActionSpace) -> dict[str, BaseDistribution]:
    """Optuna's distributions of the parameters that have a choice."""
    return {
        p.name: IntDistribution(0, len(p) - 1)
        if p.ordinal
        else CategoricalDistribution(list(range(len(p))))
        for p in space.parameters
        if len(p) > 1
    }
