"""Settings of a learner, the papers' values by default."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mpe_marl.errors import MpeError, at_least, unknown_name

ALGORITHMS = ("maddpg", "masac")
MODES = ("loop", "batched", "shared", "folded")
LATER_OF_LEARNER = {"share_parameters": False}
"""Settings that came after the first runs were stored, and what these had."""


@dataclass(frozen=True)
class LearnerConfig:
    """Settings of MADDPG and MASAC.

    Attributes:
        algorithm: ``"maddpg"`` (Lowe et al., 2017) or ``"masac"`` (soft actor-critic with
            centralised twin critics).
        mode: How an update is computed: ``loop`` one network after the other, ``batched`` all
            networks in stacked products, ``shared`` the same for one batch that all trainers
            share, ``folded`` the same from the world state (see ``docs/mpe.md``).
        hidden: Width of the two hidden layers.
        lr: Adam's step size.
        tau: Share of the online network that moves into the target at each update.
        gamma: Discount a step.
        entropy: Weight of the policy's entropy (MASAC).
        clip: Largest norm of one variable's gradient.
        logit_penalty: Weight of the mean squared actor output (MADDPG, openai/maddpg p_train).
        noise: Standard deviation of exploration (MADDPG, continuous actions).
        dtype: ``"float32"`` or ``"float64"``.
        device: A torch device; ``"auto"`` takes a GPU when there is one.
        share_parameters: One actor and one critic for all agents, told apart by an id; modes
            ``shared`` and ``folded``.
    """

    algorithm: str = "maddpg"
    mode: str = "batched"
    hidden: int = 64
    lr: float = 0.01
    tau: float = 0.01
    gamma: float = 0.95
    entropy: float = 0.05
    clip: float = 0.5
    logit_penalty: float = 1e-3
    noise: float = 0.1
    dtype: str = "float32"
    device: str = "cpu"
    share_parameters: bool = False

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise unknown_name("algorithm", self.algorithm, ALGORITHMS)
        if self.mode not in MODES:
            raise unknown_name("update mode", self.mode, MODES)
        if self.share_parameters and self.mode not in ("shared", "folded"):
            raise MpeError(
                f"share_parameters with update mode {self.mode!r}: one network needs one batch for "
                "all agents; expected mode 'shared' or 'folded'."
            )
        at_least("hidden", self.hidden, 1)
        for name in ("lr", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise MpeError(f"{name}={getattr(self, name)}; expected a finite number > 0.")
        for name in ("tau", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise MpeError(f"{name}={getattr(self, name)}; expected a number in [0, 1].")

    @property
    def twins(self) -> int:
        """Critics an agent has."""
        return 2 if self.algorithm == "masac" else 1
