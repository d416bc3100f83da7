"""Policies at work on training problems: proposals, their values, and the best known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator, CostModel, MappingBatch
from layers import from_fields, to_fields
from maestro_env import MapSpace, Objective
from mapper.pretrained.cases import case_of
from mapper.pretrained.proposer import ProposedMappings, Proposer
from mapper.pretrained.tables import Case, ProblemTables, tabulate
from mapper.pretrained.training.random_problems import RandomProblem, draw

FloatArray = NDArray[np.float64]


@dataclass
class Batch:
    """Problems that are trained on together.

    Args:
        problems: The problems.
        cases: The same as the agents take them.
        tables: The same as arrays.
        model: Prices mappings.
        best: ``(M,)`` lowest value known of each problem.
    """

    problems: list[RandomProblem]
    cases: list[Case]
    tables: ProblemTables
    model: CostModel
    best: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, problems: list[RandomProblem], model: CostModel) -> Batch:
        """Build spaces and tables."""
        cases = [
            case_of(MapSpace(p.layer, p.accelerator), Objective.parse(p.objective), model)
            for p in problems
        ]
        return cls(problems, cases, tabulate(cases), model, np.full(len(problems), np.inf))

    @classmethod
    def random(cls, count: int, model: CostModel, rng: np.random.Generator) -> Batch:
        """Fresh random problems."""
        return cls.of([draw(rng) for _ in range(count)], model)

    def state_dict(self) -> dict[str, Any]:
        """As arrays and plain values."""
        problems = [
            [to_fields(p.layer), p.accelerator.to_dict(), p.objective] for p in self.problems
        ]
        return {"problems": problems, "best": self.best}

    @classmethod
    def from_state(cls, state: dict[str, Any], model: CostModel) -> Batch:
        """The problems of :meth:`state_dict`."""
        problems = []
        for fields, chip, objective in state["problems"]:
            values = dict(fields)
            layer = from_fields(values.pop("name"), values.pop("kind"), values)
            problems.append(RandomProblem(layer, Accelerator.from_dict(chip), objective))
        batch = cls.of(problems, model)
        batch.best = state["best"]
        return batch

    def propose(
        self, proposer: Proposer, samples: int, rng: np.random.Generator, *, keep: bool = False
    ) -> ProposedMappings:
        """`samples` proposals per problem, problem by problem."""
        which = np.repeat(np.arange(len(self.problems)), samples)
        return proposer.propose(self.tables, which, rng, keep=keep)

    def price(self, proposals: ProposedMappings) -> FloatArray:
        """``(B,)`` what proposals cost, inf where infeasible. Lowers `best` where one is lower."""
        values = np.full(len(proposals.which), np.inf)
        for number in range(len(self.problems)):
            rows = np.flatnonzero(proposals.which == number)
            if len(rows) == 0:
                continue
            values[rows] = self.price_of(number, proposals.mappings(rows))
            self.best[number] = min(self.best[number], values[rows].min())
        return values

    def price_of(self, number: int, mappings: MappingBatch) -> FloatArray:
        """``(B,)`` what mappings of one problem cost, inf where infeasible."""
        problem = self.problems[number]
        costs = self.model.evaluate_batch(problem.layer, problem.accelerator, mappings)
        return Objective.parse(problem.objective).values(costs)


def group_advantage(values: FloatArray, samples: int, best: FloatArray) -> FloatArray:
    """How much better each proposal is than the others of its problem.

    The log of a value over the best known, clipped (an infeasible mapping counts as the worst), is
    standardised within the problem: the group-relative advantage of Shao et al. (DeepSeekMath,
    2024).

    Args:
        values: ``(M * samples,)``, problem by problem.
        samples: ProposedMappings per problem.
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


WORST = 2.0
"""Log-ratio to the best known at which a proposal counts as bad as an infeasible one."""
