"""Settings of a learner, the papers' values by default."""

from __future__ import annotations

from dataclasses import dataclass

from marl_common import check_settings, option
from mpe_marl.errors import MpeError

ALGORITHMS = ("maddpg", "masac", "matd3", "iddpg")
ON_POLICY = ("ippo", "mappo")
"""Algorithms that learn from what was just played: no replay."""
POLICY_DELAY = 2  # TD3 (Fujimoto et al., 2018): critics' updates to one of the policy
MODES = ("loop", "batched", "shared", "folded")
LATER_OF_LEARNER = {
    "share_parameters": False, "epochs": 10, "trace": 0.95, "ratio_clip": 0.2,
}  # fmt: skip
"""Settings that came after the first runs were stored, and what these had."""


@dataclass(frozen=True)
class LearnerConfig:
    """Settings of MADDPG and what is built of the same parts.

    Attributes:
        algorithm: ``"maddpg"`` (Lowe et al., 2017); ``"masac"`` (soft actor-critic with
            centralised twin critics); ``"matd3"`` (Ackermann et al., 2019: twin critics, smoothed
            targets, policies and targets that move every second update); ``"iddpg"`` (critics
            that see what their own agent sees and does); ``"ippo"`` and ``"mappo"`` (PPO whose
            critics see what their own agent sees, or all of it).
        mode: How an update is computed: ``loop`` one network after the other, ``batched`` all
            networks in stacked products, ``shared`` the same for one batch that all trainers
            share, ``folded`` the same from the world state (see ``docs/mpe.md``).
        hidden: Width of the two hidden layers.
        lr: Adam's step size.
        tau: Share of the online network that moves into the target at each update.
        gamma: Discount a step.
        entropy: Weight of the policy's entropy (MASAC, IPPO, MAPPO).
        clip: Largest norm of one variable's gradient.
        logit_penalty: Weight of the mean squared actor output (MADDPG, openai/maddpg p_train).
        noise: Standard deviation of exploration (MADDPG, continuous actions).
        dtype: ``"float32"`` or ``"float64"``.
        device: A torch device; ``"auto"`` takes a GPU when there is one.
        share_parameters: One actor and one critic for all agents, told apart by an id; modes
            ``shared`` and ``folded``.
        epochs: Passes over what was played (IPPO, MAPPO).
        trace: GAE lambda (IPPO, MAPPO).
        ratio_clip: PPO clip range (IPPO, MAPPO).
    """

    algorithm: str = option(
        "maddpg", "maddpg, masac, matd3, iddpg, ippo or mappo.", "--algorithm", "--algo", "-a",
        known=(*ALGORITHMS, *ON_POLICY),
    )  # fmt: skip
    mode: str = option("batched", "Update mode: loop, batched, shared or folded.", known=MODES)
    hidden: int = option(64, low=1, high=65_536)
    lr: float = option(0.01, "Adam's step size.", above=0)
    tau: float = option(0.01, low=0, high=1)
    gamma: float = option(0.95, low=0, high=1)
    entropy: float = option(0.05, low=0)
    clip: float = option(0.5, above=0)
    logit_penalty: float = option(1e-3, low=0)
    noise: float = option(0.1, low=0)
    dtype: str = option("float32", "float32, or float64.", known=("float32", "float64"))
    device: str = option("cpu", "cpu, cuda, or auto.")
    share_parameters: bool = option(
        False, "One actor and critic for all agents.", "--share-parameters"
    )
    epochs: int = option(10, low=1)
    trace: float = option(0.95, low=0, high=1)
    ratio_clip: float = option(0.2, above=0)

    def __post_init__(self) -> None:
        check_settings(self, MpeError)
        if self.share_parameters and self.mode not in ("shared", "folded"):
            raise MpeError(
                f"share_parameters with update mode {self.mode!r}: one network needs one batch for "
                "all agents; expected mode 'shared' or 'folded'."
            )
        if self.share_parameters and self.algorithm == "iddpg":
            raise MpeError(
                "share_parameters with algorithm 'iddpg': its critics each see something else; "
                "expected 'maddpg', 'masac' or 'matd3'."
            )
        if self.on_policy and self.mode != "batched":
            raise MpeError(
                f"update mode {self.mode!r} with algorithm {self.algorithm!r}, which has one way "
                "to compute an update; expected mode 'batched'."
            )

    @property
    def on_policy(self) -> bool:
        """Whether it learns from what was just played, without a replay."""
        return self.algorithm in ON_POLICY

    @property
    def soft(self) -> bool:
        """Whether continuous policies say how much they vary."""
        return self.algorithm == "masac" or self.on_policy

    @property
    def twins(self) -> int:
        """Critics an agent has."""
        return 2 if self.algorithm in ("masac", "matd3") else 1

    @property
    def policy_delay(self) -> int:
        """Updates of the critics to one of policies and targets."""
        return POLICY_DELAY if self.algorithm == "matd3" else 1
