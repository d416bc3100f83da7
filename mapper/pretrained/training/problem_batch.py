"""Random problems that agents are trained on together, and how good their proposals are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from common import FloatArray, IntArray
from cost_models import CostModel, MappingBatch
from maestro_env import Problem
from mapper.pretrained.problem_arrays import ProblemArrays, arrays_of
from mapper.pretrained.state import State
from mapper.pretrained.training.random_problems import draw

WORST = 2.0
"""Log-ratio to the best known at which a proposal counts as bad as an infeasible one."""


@dataclass
class ProblemBatch:
    """Problems that are trained on together.

    Args:
        problems: `M` problems.
        best: ``(M,)`` lowest value known of each.
    """

    problems: list[Problem]
    best: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.best = np.full(len(self.problems), np.inf)

    @classmethod
    def random(cls, count: int, model: CostModel, rng: np.random.Generator) -> ProblemBatch:
        """Fresh random problems."""
        return cls([draw(rng, model) for _ in range(count)])

    @cached_property
    def arrays(self) -> ProblemArrays:
        """The problems as agents observe them."""
        return arrays_of(self.problems)

    def price(self, which: IntArray, state: State) -> FloatArray:
        """``(B,)`` what mappings cost, inf where infeasible. Lowers `best` where one is lower."""
        values = np.full(len(which), np.inf)
        for number in np.unique(which):
            rows = which == number
            values[rows] = value_of(self.problems[number], state.take(rows).mappings())
        np.minimum.at(self.best, which, values)
        return values


def value_of(problem: Problem, mappings: MappingBatch) -> FloatArray:
    """``(B,)`` the objective of mappings, inf where infeasible; nothing is counted."""
    costs = problem.cost_model.evaluate_batch(problem.layer, problem.accelerator, mappings)
    return problem.objective.values(costs)


def group_advantage(values: FloatArray, samples: int, best: FloatArray) -> FloatArray:
    """How much better each proposal is than the others of its problem.

    The log of a value over the best known, clipped (an infeasible mapping counts as the worst), is
    standardised within the problem: the group-relative advantage of Shao et al. (DeepSeekMath,
    2024).

    Args:
        values: ``(M * samples,)``, problem by problem.
        samples: Proposals per problem.
        best: ``(M,)`` lowest value known.
    """
    group = values.reshape(-1, samples)
    known = np.where(np.isfinite(best), best, 1.0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(group / known)
    loss = np.clip(np.where(np.isfinite(group), loss, WORST), 0.0, WORST)
    spread = loss.std(axis=1, keepdims=True)
    return np.where(
        spread > 1e-9, (loss.mean(axis=1, keepdims=True) - loss) / (spread + 1e-3), 0.0
    ).reshape(-1)
