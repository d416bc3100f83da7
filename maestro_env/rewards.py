"""What an environment answers to an action: the observation and the reward."""

from __future__ import annotations

import math
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cost_models import CostBatch
from maestro_env import kernel
from maestro_env.checks import EnvError, check_choice
from maestro_env.problem import Problem
from marl_common import brief, contiguous

Reward = Literal["relative", "inverse", "log"]
REWARDS: tuple[Reward, ...] = get_args(Reward)

OBSERVED = ("latency_cycles", "power_mw", "energy_nj", "area_um2")
"""The figures of the papers' observation <latency, power, energy, area>, in order."""

REFERENCE_SAMPLES = 1000
REFERENCE_SEED = 20_240_229
"""Random mappings whose median stands in where an objective has no physical bound."""


class Rewards:
    """Turns costs into observations and rewards, row by row: a row never depends on another.

    Args:
        problem: Gives the physical bounds.
        reward: ``"relative"``: reference / X; ``"inverse"``: 1 / X; ``"log"``: 1 at the
            reference, down by 1/6 for every factor of ten above it, and 0 from 10^6 on.
        infeasible_reward: Reward of an infeasible mapping.
        raw: Observe the figures themselves in their units, zeros where infeasible.
        reference: X whose reward is 1, in the objective's unit; None for the objective's physical
            bound, or the geometric median of 1,000 random mappings where it has none.

    Attributes:
        reference: The same, or 1 where the reward is ``"inverse"``.

    Raises:
        EnvError: The reward is unknown, or there is neither a bound nor a feasible mapping among
            the random ones.
    """

    def __init__(
        self,
        problem: Problem,
        reward: Reward = "relative",
        infeasible_reward: float = 0.0,
        raw: bool = False,
        reference: float | None = None,
    ) -> None:
        check_choice("reward", reward, REWARDS)
        if not _is_number(infeasible_reward) or not math.isfinite(infeasible_reward):
            raise EnvError(
                f"infeasible_reward: got {brief(infeasible_reward)}, expected a finite number"
            )
        if reference is not None and not (_is_number(reference) and 0 < reference < math.inf):
            raise EnvError(
                f"reference: got {brief(reference)}, expected a finite number above 0, or None"
            )
        self.reward, self.raw = reward, raw
        self.infeasible_reward = float(infeasible_reward)
        bounds = problem.figure_bounds
        self._low = np.array([bounds.get(figure, 1.0) for figure in OBSERVED])
        if reference is None and reward != "inverse":
            reference = _reference(problem)
        self.reference = 1.0 if reference is None or reward == "inverse" else float(reference)

    def __call__(
        self, costs: CostBatch, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Observe and reward `B` evaluated mappings.

        Args:
            costs: Their costs.
            values: ``(B,)`` objective values; inf = infeasible.

        Returns:
            Observations ``(B, 4)`` in [0, 1] (all ones where infeasible), or the raw figures, and
            rewards ``(B,)``.
        """
        size = len(values)
        observations = np.ones((size, len(OBSERVED)), np.float32)
        rewards = np.full(size, self.infeasible_reward)
        arrays = contiguous([*(costs.figures[figure] for figure in OBSERVED), values, self._low])
        known = (REWARDS.index(self.reward), self.reference)
        arguments = (*arrays, *known, observations, rewards, size)
        kernel.feedback_rows(*arguments)
        if self.raw:
            seen = np.stack([costs.figures[figure] for figure in OBSERVED], axis=1)
            observations = np.where(np.isfinite(values)[:, None], seen, 0.0).astype(np.float32)
        return observations, rewards


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _reference(problem: Problem) -> float:
    if problem.bound is not None:
        return problem.bound
    actions = problem.space.sample(REFERENCE_SAMPLES, REFERENCE_SEED)
    values = problem.look(actions).values
    values = values[np.isfinite(values)]
    if len(values) == 0:
        raise EnvError(
            f"reward: objective {problem.objective.name!r} has no physical bound, and none of "
            f"{REFERENCE_SAMPLES} random mappings of layer {problem.layer.name!r} is feasible; "
            "use reward='inverse', or relax the limits or the accelerator"
        )
    return float(np.exp(np.median(np.log(values))))
