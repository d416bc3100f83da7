"""What agents see and are rewarded with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain
from maestro_env import FEATURES, Evaluation, Problem, Rewards, layer_features
from marl_common import Float32Array, FloatArray

FIGURES = ("latency_cycles", "power_mw", "energy_nj", "area_um2")
"""The observation of the paper, in its order."""
FACTS = len(FEATURES) + 7
"""Numbers that agents see of the layer and the chip, see :func:`problem_facts`."""
SCALE = 4.0
"""Natural logs from the reference to the border of the observation's box."""
FORGET = 0.1
BITS = 40.0
"""Bits of a chip's size at which what agents see of it is 1, as where it is unlimited."""
SMALLEST = 1e-6
"""Spread of the rewards' logs at least, for searches that stand still."""


class Observer:
    """Observations and rewards of one search, relative to what it has met so far.

    Args:
        problem: What is searched.

    Attributes:
        reference: ``(4,)`` log figures of the first feasible samples; zeros before them.
        level: Running log of a typical sample's value; nan before the first feasible one.
        spread: Running median of how far samples are from their parents, as logs.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reference = np.zeros(len(FIGURES))
        self.level = self.spread = float("nan")

    def state_dict(self) -> dict[str, Any]:
        """What it has met so far."""
        return {
            "reference": self.reference,
            "level": float(self.level),
            "spread": float(self.spread),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.reference = state["reference"]
        self.level, self.spread = state["level"], state["spread"]

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

    def gain(self, parents: FloatArray, values: FloatArray) -> FloatArray:
        """How much better a sample is than its parent, in (-1, 1); -1 where it is infeasible.

        The log g of the parent's value over the sample's, as g / (|g| + spread): half of the
        samples lie within one half, and none at the borders.

        Args:
            parents: ``(B,)`` value of the elite a world started from; nan takes a typical sample's.
            values: ``(B,)`` objective values.
        """
        finite = np.isfinite(values)
        logs = np.log(np.where(finite, values, 1.0))
        if finite.any():
            self.level = _followed(self.level, float(np.median(logs[finite])))
        before = np.where(np.isnan(parents), self.level, np.log(np.where(parents > 0, parents, 1)))
        known = finite & np.isfinite(before)
        gain = np.where(known, before - logs, 0.0)
        if known.any():
            self.spread = _followed(self.spread, float(np.median(np.abs(gain[known]))))
        better = gain / (np.abs(gain) + max(self.spread, SMALLEST))
        rewards: FloatArray = np.where(finite, np.where(known, better, 1.0), -1.0)
        return rewards

    def relative(self, values: FloatArray) -> FloatArray:
        """Best value so far over the sample's, in [0, 1]; 0 where it is infeasible."""
        best = min(self.problem.best_value, float(values.min(initial=np.inf)))
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(values), best / values, 0.0)


def _followed(old: float, new: float) -> float:
    """A running mean's next value; nan before the first."""
    return new if np.isnan(old) else (1.0 - FORGET) * old + FORGET * new


class PrintedFeedback:
    """The paper's observation and reward: of the last mapping, the figures; and 1 / X.

    The figures are those of the environments (a log scale from their physical bounds), and X
    counts in units of the objective's bound, so that networks and step sizes serve any layer.

    Args:
        problem: What is searched.
    """

    def __init__(self, problem: Problem) -> None:
        self._rewards = Rewards(problem)

    def __call__(self, evaluation: Evaluation) -> tuple[Float32Array, FloatArray]:
        """``(B, 4)`` observations in [0, 1] and ``(B,)`` rewards; 0 where infeasible."""
        return self._rewards(evaluation.costs, evaluation.values)


def problem_facts(problem: Problem) -> Float32Array:
    """What agents see of the layer and the chip, in [0, 1]; the same in a whole search."""
    chip = problem.accelerator
    if isinstance(chip, Chain):  # its MACs, its outermost and its innermost memory
        units, buffers = (
            chip.peak_macs_per_cycle,
            (chip.memories[0].buffer, chip.memories[-1].buffer),
        )
    else:
        units, buffers = chip.num_pes, chip.buffers()
    sizes = [math.log2(units) / BITS]
    for buffer in buffers:
        for bound in (buffer.capacity_bits, buffer.read_bw, buffer.write_bw):
            sizes.append(1.0 if bound is None else min(1.0, math.log2(max(1, bound)) / BITS))
    return np.concatenate([layer_features(problem.layer), np.array(sizes, np.float32)])
