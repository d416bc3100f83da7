"""Many copies of the mapping problem stepped at once: the core under every environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray

from layers import Layer
from maestro_env.action_space import ActionError
from maestro_env.checks import EnvError, check_worlds
from maestro_env.features import FEATURES, layer_features
from maestro_env.masks import Masks, action_masks
from maestro_env.problem import Problem
from maestro_env.rewards import OBSERVED, Reward, Rewards
from maestro_env.sequence import SharedSpace
from maestro_env.step_result import ALL, StepResult
from marl_common import FloatArray, IntArray, brief


class BatchedProblem:
    """`N` copies of a problem (or of a sequence of them), stepped together on the batched model.

    A world maps its layer once a step; with several problems it then goes on to the next layer.

    Args:
        problems: One problem, or the problems of a sequence of layers with the same options. The
            same object may stand in several places.
        num_worlds: `N`.
        reward: See :class:`Rewards`.
        infeasible_reward: Reward of an infeasible mapping.
        reference: See :class:`Rewards`; of one problem alone.
        features: Whether an observation ends with the features of the layer to map next.
        raw: Whether it begins with the figures in their units, not on a log scale.
        layer_names: Names of the layers, where equal shapes share a problem.

    Attributes:
        nvec: ``(P,)`` choices of each parameter.
        names: ``(P,)`` names of the parameters.
        samples: ``(N,)`` samples that each world has used (since its last recount; the problems
            have counters of their own that no reset touches).
        age: ``(N,)`` steps since each world's last reset.

    Raises:
        EnvError: An argument is unknown or out of range, or a sequence has one reference.
    """

    def __init__(
        self,
        problems: Problem | Sequence[Problem],
        num_worlds: int,
        *,
        reward: Reward = "relative",
        infeasible_reward: float = 0.0,
        reference: float | None = None,
        features: bool = False,
        raw: bool = False,
        layer_names: Sequence[str] | None = None,
    ) -> None:
        self.problems = _checked_problems(problems)
        self.num_worlds = check_worlds(num_worlds)
        self.features = features
        self.layer_names = tuple(layer_names or (p.layer.name for p in self.problems))
        distinct = list(dict.fromkeys(self.problems))
        self._distinct = distinct
        self._which = np.array([distinct.index(p) for p in self.problems], dtype=np.int64)
        self.raw = raw
        if reference is not None and len(distinct) > 1:
            raise EnvError(
                f"reference: got {brief(reference)} for {len(distinct)} layers, expected None: "
                "each has its own"
            )
        self._feedback = [
            Rewards(problem, reward, infeasible_reward, raw, reference) for problem in distinct
        ]
        self._shared = SharedSpace([p.space for p in distinct]) if len(distinct) > 1 else None
        space = self._shared or distinct[0].space
        self.nvec, self.names = space.nvec, space.names
        self._masks: dict[int, Masks] = {}
        self._features = np.array([layer_features(p.layer) for p in self.problems])
        self.samples = np.zeros(self.num_worlds, dtype=np.int64)
        self.age = np.zeros(self.num_worlds, dtype=np.int64)
        self._route = np.tile(np.arange(len(self.problems)), (self.num_worlds, 1))

    @property
    def observation_size(self) -> int:
        """Numbers in an observation, in [0, 1] but for raw figures."""
        return len(OBSERVED) + (len(FEATURES) if self.features else 0)

    def observation_space(self) -> Box:
        """The space of one world's observation."""
        high = float(np.finfo(np.float32).max) if self.raw else 1.0
        return Box(0.0, high, (self.observation_size,), np.float32)

    def action_space(self) -> Any:
        """The space of one world's action, a ``MultiDiscrete``."""
        return MultiDiscrete(self.nvec)

    def position(self, world: int) -> int:
        """Place in the sequence of the layer that a world maps next."""
        return int(self._route[world, self.age[world] % len(self.problems)])

    def positions(self, rows: IntArray | None = None) -> IntArray:
        """Place in the sequence of the layer that each world maps next, of all or some worlds."""
        worlds = np.arange(self.num_worlds) if rows is None else rows
        return self._route[worlds, self.age[worlds] % len(self.problems)]

    def layer(self, world: int) -> Layer:
        """The layer that a world maps next."""
        return self.problems[self.position(world)].layer

    def layer_name(self, world: int) -> str:
        """Name of the layer that a world maps next."""
        return self.layer_names[self.position(world)]

    def masks(self, world: int) -> Masks:
        """The action masks of the layer that a world maps next (see :func:`action_masks`)."""
        return self.masks_at(self.position(world))

    def masks_at(self, position: int) -> Masks:
        """The action masks of a place in the sequence of layers."""
        which = int(self._which[position])
        if which not in self._masks:
            own = action_masks(self._distinct[which])
            self._masks[which] = own if self._shared is None else self._shared.masks(own, which)
        return self._masks[which]

    def reset(
        self,
        rows: IntArray | None = None,
        routes: IntArray | None = None,
        recount: bool | NDArray[np.bool_] = False,
    ) -> NDArray[np.float32]:
        """Start new episodes; no sample is spent.

        Args:
            rows: The worlds to reset; None for all.
            routes: ``(len(rows), L)`` order in which those worlds map the layers; None keeps it.
            recount: Whether, or for which of those worlds, `samples` starts again from 0.

        Returns:
            Observations of those worlds: zeros (and the features of the first layer).
        """
        chosen = ALL if rows is None else rows
        self.age[chosen] = 0
        self.samples[chosen] *= ~np.asarray(recount, dtype=np.bool_)
        if routes is not None:
            self._route[chosen] = routes
        size = self.num_worlds if rows is None else len(rows)
        return self._observe(np.zeros((size, len(OBSERVED)), np.float32), chosen)

    def step(
        self, actions: Any, rows: IntArray | None = None
    ) -> tuple[NDArray[np.float32], FloatArray, StepResult]:
        """Map each world's layer, and go on to its next one.

        Args:
            actions: ``(N, P)`` integers, or ``(len(rows), P)``.
            rows: The worlds to step; None for all.

        Returns:
            Observations, rewards and the outcome, one row a stepped world.

        Raises:
            ActionError: Actions of a wrong shape, type or range; nothing was evaluated.
            BudgetExhausted: A problem's budget does not suffice.
        """
        size = self.num_worlds if rows is None else len(rows)
        if len(actions) != size:
            raise ActionError(
                f"actions: got {len(actions)} rows, expected ({size}, {len(self.nvec)}), "
                "one row a world"
            )
        chosen = ALL if rows is None else rows
        if self._shared is None:
            paper, rewards, outcome = self._step_one(actions)
        else:
            paper, rewards, outcome = self._step_many(self._shared.check(actions), chosen)
        self.samples[chosen] += 1
        self.age[chosen] += 1
        return self._observe(paper, chosen), rewards, outcome

    def look(self, position: int, action: IntArray) -> StepResult:
        """The outcome of an action ``(P,)`` on one layer of the sequence, without counting it."""
        own = action[np.newaxis]
        if self._shared is not None:
            own = self._shared.translate(own, int(self._which[position]))
        return StepResult(1, [(ALL, self.problems[position].look(own))])

    def _step_one(self, actions: Any) -> tuple[NDArray[np.float32], FloatArray, StepResult]:
        evaluation = self._distinct[0].evaluate(actions)
        paper, rewards = self._feedback[0](evaluation.costs, evaluation.values)
        return paper, rewards, StepResult(len(paper), [(ALL, evaluation)])

    def _step_many(
        self, actions: IntArray, chosen: IntArray | slice
    ) -> tuple[NDArray[np.float32], FloatArray, StepResult]:
        assert self._shared is not None
        which = self._which[self.positions(np.arange(self.num_worlds)[chosen])]
        paper = np.empty((len(which), len(OBSERVED)), np.float32)
        rewards = np.empty(len(which))
        parts = []
        for layer in np.unique(which):
            rows = np.flatnonzero(which == layer)
            own = self._shared.translate(actions[rows], int(layer))
            evaluation = self._distinct[layer].evaluate(own)
            paper[rows], rewards[rows] = self._feedback[layer](evaluation.costs, evaluation.values)
            parts.append((rows, evaluation))
        return paper, rewards, StepResult(len(which), parts)

    def _observe(self, paper: NDArray[np.float32], chosen: IntArray | slice) -> NDArray[np.float32]:
        if not self.features:
            return paper
        places = self.positions(np.arange(self.num_worlds)[chosen])
        return np.concatenate([paper, self._features[places]], axis=1)


def _checked_problems(problems: Any) -> tuple[Problem, ...]:
    listed = tuple(problems) if isinstance(problems, Sequence) else (problems,)
    if not listed:
        raise EnvError("layers: got none, expected at least one")
    for problem in listed:
        if not isinstance(problem, Problem):
            raise EnvError(f"problem: got {brief(problem)}, expected a maestro_env.Problem")
    return listed
