"""How good agents are on random problems that they are never trained on."""

from __future__ import annotations

import numpy as np

import baselines
import cost_models
from maestro_env import Problem
from mapper.pretrained.network import Weights
from mapper.pretrained.policy_proposals import proposed
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.training.random_problems import draw
from marl_common import FloatArray

SEED = 20_260
"""Seed of the validation problems, the same for every training."""
COUNTS = (1, 16, 64)


class Validation:
    """Held-out random problems with the best value known of each.

    Args:
        cost_model: Name of what prices mappings.
        count: Problems; those without a feasible mapping are left out.
        samples: Samples of the search that gives each reference.

    Attributes:
        reference: ``(count,)`` lowest value that the search found.
    """

    def __init__(self, cost_model: str, count: int, samples: int) -> None:
        model, rng = cost_models.load(cost_model), np.random.default_rng(SEED)
        self.problems: list[Problem] = []
        reference: list[float] = []
        while len(self.problems) < count:
            problem = draw(rng, model)
            best = baselines.load("ga").search(problem, samples, SEED).best_value
            if np.isfinite(best):
                self.problems.append(problem)
                reference.append(best)
        self.reference: FloatArray = np.array(reference)

    def measure(self, weights: Weights, seed: int = 0) -> dict[str, float]:
        """Ratios to the best known: median and 90th percentile of the best of 1, 16 and 64.

        Returns:
            ``median_N``, ``p90_N`` for `COUNTS`, ``within5_N`` shares, and ``infeasible``.
        """
        arrays, rng = arrays_of(self.problems), np.random.default_rng(seed)
        batches = proposed(weights, arrays, np.arange(max(COUNTS)), rng)
        pairs = zip(self.problems, batches, strict=True)
        values = np.array([p.look(p.space.encode(batch)).values for p, batch in pairs])
        reference = np.minimum(self.reference, values.min(axis=1))
        found = {"infeasible": float(np.mean(~np.isfinite(values)))}
        for count in COUNTS:
            ratio = values[:, :count].min(axis=1) / reference
            found[f"median_{count}"] = float(np.median(ratio))
            found[f"p90_{count}"] = float(np.quantile(ratio, 0.9, method="higher"))
            found[f"within5_{count}"] = float(np.mean(ratio <= 1.05))
        return found

    def score(self, figures: dict[str, float]) -> float:
        """One figure to select agents by; lower is better."""
        return float(np.mean([np.log(figures[f"p90_{count}"]) for count in COUNTS]))
