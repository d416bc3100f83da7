"""How good agents are on random problems that they are never trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import baselines
from cost_models import CostModel
from maestro_env import Problem
from mapper.pretrained.proposals import drawn
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.random_problems import RandomProblem, draw
from mapper.pretrained.training.sampling import Batch

SEED = 20_260
"""Seed of the validation problems, the same for every training."""
COUNTS = (1, 16, 100)


@dataclass
class Validation:
    """Held-out random problems with the best value known of each.

    Args:
        batch: The problems.
        reference: ``(M,)`` lowest value that searches found; lowered by whatever is better.
    """

    batch: Batch
    reference: NDArray[np.float64]

    @classmethod
    def build(cls, model: CostModel, count: int = 80, samples: int = 4000) -> Validation:
        """Draw the problems and search each; those without a feasible mapping are left out."""
        rng = np.random.default_rng(SEED)
        problems: list[RandomProblem] = []
        reference: list[float] = []
        while len(problems) < count:
            given = draw(rng)
            problem = Problem(given.layer, given.accelerator, given.objective, model)
            best = baselines.load("ga").search(problem, samples, SEED).best_value
            if np.isfinite(best):
                problems.append(given)
                reference.append(best)
        return cls(Batch.of(problems, model), np.array(reference))

    def measure(self, proposer: Proposer, seed: int = 0) -> dict[str, float]:
        """Ratios to the best known: median and 90th percentile of the best of 1, 16 and 100.

        Returns:
            ``median_N``, ``p90_N`` for `COUNTS`, ``within5_N`` shares, and ``infeasible``.
        """
        rng = np.random.default_rng(seed)
        most = max(COUNTS)
        batches = drawn(proposer, self.batch.tables, most, rng)
        values = np.array([self.batch.price_of(n, batch) for n, batch in enumerate(batches)])
        self.reference = np.minimum(self.reference, values.min(axis=1))
        found = {"infeasible": float(np.mean(~np.isfinite(values)))}
        for count in COUNTS:
            ratio = values[:, :count].min(axis=1) / self.reference
            found[f"median_{count}"] = float(np.median(ratio))
            found[f"p90_{count}"] = float(np.quantile(ratio, 0.9, method="higher"))
            found[f"within5_{count}"] = float(np.mean(ratio <= 1.05))
        return found

    def score(self, figures: dict[str, float]) -> float:
        """One figure to select agents by; lower is better."""
        return float(np.mean([np.log(figures[f"p90_{count}"]) for count in COUNTS]))
