"""What agents see and are rewarded with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import FloatArray
from maestro_env import Evaluation, Problem

FIGURES = ("latency_cycles", "power_mw", "energy_nj", "area_um2")
"""The observation of the paper, in its order."""
SCALE = 4.0
"""Natural logs from the reference to the border of the observation's box."""
FORGET = 0.1


class Observer:
    """Observations and rewards of one search, relative to what it has met so far.

    Args:
        problem: What is searched.

    Attributes:
        reference: ``(4,)`` log figures of the first feasible samples; zeros before them.
        level: Running log of a typical sample's value; nan before the first feasible one.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reference = np.zeros(len(FIGURES))
        self.level = float("nan")

    def state_dict(self) -> dict[str, Any]:
        """What it has met so far."""
        return {"reference": self.reference, "level": float(self.level)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.reference, self.level = state["reference"], state["level"]

    def observed(self, evaluation: Evaluation) -> NDArray[np.float32]:
        """``(B, 4)``: log figures over the reference's, in [-1, 1]; ones where infeasible."""
        costs = evaluation.costs
        raw = np.stack([np.asarray(getattr(costs, name)) for name in FIGURES], axis=1)
        good = np.isfinite(raw).all(axis=1) & (raw > 0).all(axis=1)
        logs = np.log(np.where(good[:, None], raw, 1.0))
        if not self.reference.any() and good.any():
            self.reference = np.median(logs[good], axis=0)
        scaled = np.clip((logs - self.reference) / SCALE, -1.0, 1.0)
        return np.where(good[:, None], scaled, 1.0).astype(np.float32)

    def log_gain(self, parents: FloatArray, values: FloatArray) -> FloatArray:
        """Log of the parent's value over the sample's, in [-1, 1]; -1 where it is infeasible.

        Args:
            parents: ``(B,)`` value of the elite a world started from; nan takes a typical sample's.
            values: ``(B,)`` objective values.
        """
        finite = values[np.isfinite(values)]
        if len(finite):
            middle = float(np.median(np.log(finite)))
            old = middle if np.isnan(self.level) else self.level
            self.level = (1.0 - FORGET) * old + FORGET * middle
        before = np.where(np.isnan(parents), self.level, np.log(np.where(parents > 0, parents, 1)))
        before = np.where(np.isfinite(before), before, 1e3)
        after = np.where(np.isfinite(values), np.log(values), 2e3)
        gain: FloatArray = np.clip(before - after, -1.0, 1.0)
        return gain

    def relative(self, values: FloatArray) -> FloatArray:
        """Best value so far over the sample's, in [0, 1]; 0 where it is infeasible."""
        best = min(self.problem.best_value, float(values.min(initial=np.inf)))
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(values), best / values, 0.0)
