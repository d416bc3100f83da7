"""Options of the MARL mapper."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from baselines import check_positive, check_shares
from mapper.clustering.assignment import Assignment
from marl_common import brief

LEARNERS = ("batched", "rllib")
MODES = ("search", "paper")
OF_THE_PAPER = (
    *("mode", "agents", "learner", "ray_address", "dataset", "count_dataset", "worlds", "hidden"),
    *("learning_rate", "batch", "epochs", "clip", "entropy", "autoregressive"),
    *("discount", "normalise"),
)
"""Options that mean something in the mode ``"paper"``; with the learner rllib also its others."""
REWARDS = ("improvement", "rank", "relative")
POSITIVE = (
    *("elites", "worlds", "start", "hidden", "learning_rate", "batch", "epochs", "clip"),
    *("acting", "greed", "proposals", "proposed", "checkpoint_every"),
)
SHARES = ("crossover", "local", "share", "exchange", "restart_policy", "unit_tiles")
NOT_NEGATIVE = (
    *("surrogate", "alike", "reunion", "patience", "idle", "dataset", "entropy"),
    "self_imitation",
)
"""Options above 0, from 0 to 1, and of at least 0."""


def check_numbers(config: Any) -> None:
    """Check the options above that a config has.

    Raises:
        ValueError: One is out of range.
    """
    known = {one.name: getattr(config, one.name) for one in fields(config)}
    check_positive(**{name: known[name] for name in POSITIVE if name in known})
    check_shares(**{name: known[name] for name in SHARES if name in known})
    for name in NOT_NEGATIVE:
        if name in known and known[name] < 0:
            raise ValueError(f"{name}: got {known[name]!r}, expected at least 0")


def check_dataset(config: Any) -> None:
    """Check that agents are made of a dataset where there is one.

    Raises:
        ValueError: Agents are given already, or what is to be counted is not there.
    """
    if config.dataset and config.agents != "auto" and not str(config.agents).strip().isdecimal():
        raise ValueError(
            f"dataset: agents are {brief(config.agents)} already; expected auto or a number of "
            "them, or no dataset"
        )
    if config.count_dataset and not config.dataset:
        raise ValueError("count_dataset: there is no dataset to count; give dataset, too")


@dataclass(frozen=True)
class MarlConfig:
    """Options of :class:`~mapper.marl.searcher.Marl`.

    Args:
        agents: ``"auto"`` (the stored assignment of the nearest zoo layer), a number of agents
            (that assignment's tree cut elsewhere; 1 is a single agent), a file, or an assignment.
        mode: ``"search"``, or ``"paper"`` for the paper's method as printed (docs/marl.md): every
            agent chooses anew in each sample, repeats count, the reward is 1 / X.
        learner: ``"batched"`` (in this process) or ``"rllib"`` (one policy an agent, on Ray).
        ray_address: Ray cluster of the learner rllib: ``auto`` or ``HOST:PORT``; none starts one
            here.
        dataset: Random samples of this problem to cluster the agents from, instead of a stored
            assignment; 0 takes none.
        count_dataset: Whether those samples count against the budget.
        worlds: Samples that the agents choose side by side before the cost model is asked.
        start: Random mappings of the first population.
        unit_tiles: Share of the random mappings in which every inner tile is the smallest.
        hidden: Width of an agent's network.
        learning_rate: Adam's step.
        batch: Samples of a PPO update.
        epochs: Passes over a batch.
        clip: PPO's clipping range of the probability ratio.
        entropy: Weight of the entropy bonus at the start; it falls linearly to 0 with the budget.
        discount: Weight of the next sample's reward in a return; a world's episode is what it plays
            between two updates. Only in the mode ``"paper"``; 0 makes every sample an episode.
        normalise: Whether an agent's advantages have mean 0 and deviation 1 in a batch.
        reward: ``"improvement"`` (log of parent over child, between -1 and 1), ``"rank"`` (rank of
            that in the batch) or ``"relative"`` (best value so far over the sample's).
        policy: Agents learn by PPO during the search; False draws neighbouring and uniform choices.
        share: Share of an acting agent's draws that its policy makes, if agents learn.
        elites: Best mappings that worlds start from.
        acting: Parameters chosen anew in a world that starts from an elite, on average.
        crossover: Share of worlds that start from a mix of two elites, agent by agent or
            parameter by parameter.
        local: Share of the other draws on neighbouring choices; the rest is uniform.
        exchange: Share of worlds whose start has two parameters moved at once.
        greed: Width of the choice of parents by rank, as a share of the elites.
        self_imitation: Weight of the log-likelihood of the elites' choices.
        patience: Samples an elite without improvement before a restart; 0 never restarts.
        alike: Most elites with the very same value, so that they stay diverse; 0 sets no limit.
        reunion: After so many restarts one begins with the bests of all epochs instead of a new
            population; 0 never does.
        growth: Factor by which the elites grow at a restart.
        surrogate: Samples during which a Gaussian process screens what the agents propose, half as
            many after a warm start; 0 never.
        proposals: Worlds that the agents play in thought for each one that is then evaluated.
        restart_policy: Share of a restart's population that the policies choose.
        avoid_repeats: Never spend a sample on a loop nest that was sampled before.
        own_choice: Agents observe the current choices of their own parameters too.
        autoregressive: An agent chooses its parameters one after the other, each head seeing the
            choices made before its own; otherwise they are independent given the observation.
        pretrained: Agents that find the first samples, as `zero-shot` does (docs/pretrained.md):
            ``"auto"`` for those that come with the package, ``"none"``, or a file of ``mapper
            pretrain``.
        proposed: How many samples these are.
        idle: A search that pre-trained agents began ends after so many restarts in a row that lower
            its best value by less than a thousandth; 0 goes on to the end of the budget.
        warm_start: A checkpoint whose policies are the first ones.
        shared_policy: A file of policies that many searches train in turn, read at the start (once
            it exists) and written at the end; its agents are used instead of `agents`.
        checkpoint: Where to write the state every `checkpoint_every` samples.
        checkpoint_every: Samples between two checkpoints.
    """

    agents: str | int | Assignment = "auto"
    mode: str = "search"
    learner: str = "batched"
    ray_address: str = ""
    dataset: int = 0
    count_dataset: bool = False
    worlds: int = 8
    start: int = 64
    unit_tiles: float = 0.5
    hidden: int = 16
    learning_rate: float = 1e-2
    batch: int = 128
    epochs: int = 4
    clip: float = 0.2
    entropy: float = 0.01
    discount: float = 0.0
    normalise: bool = True
    reward: str = "improvement"
    policy: bool = False
    share: float = 0.5
    elites: int = 8
    acting: float = 1.5
    crossover: float = 0.5
    local: float = 0.5
    exchange: float = 0.3
    greed: float = 0.3
    self_imitation: float = 0.0
    patience: int = 30
    alike: int = 2
    reunion: int = 2
    growth: float = 2.0
    surrogate: int = 2000
    proposals: int = 16
    restart_policy: float = 0.5
    avoid_repeats: bool = True
    own_choice: bool = True
    autoregressive: bool = False
    pretrained: str = "auto"
    proposed: int = 32
    idle: int = 3
    warm_start: str = ""
    shared_policy: str = ""
    checkpoint: str = ""
    checkpoint_every: int = 5000

    def __post_init__(self) -> None:
        self._check_mode()
        check_numbers(self)
        check_dataset(self)
        if not 0.0 <= self.discount <= 1.0:
            raise ValueError(f"discount: got {self.discount!r}, expected 0 to 1")
        if self.discount and self.mode != "paper":
            raise ValueError("discount: only the mode paper has one; leave it out, or set mode")
        if self.growth < 1.0:
            raise ValueError(f"growth: got {self.growth!r}, expected at least 1")
        self._check_learner()
        if self.reward not in REWARDS:
            raise ValueError(f"reward: got {self.reward!r}, expected one of {', '.join(REWARDS)}")

    def _check_learner(self) -> None:
        """Check what the learner takes.

        Raises:
            ValueError: There is no such learner, or it takes no such option.
        """
        if self.learner not in LEARNERS:
            raise ValueError(f"learner: got {self.learner!r}, expected {' or '.join(LEARNERS)}")
        if self.ray_address and self.learner != "rllib":
            raise ValueError(
                f"ray_address: got {self.ray_address!r}, but the learner {self.learner!r} does not "
                "run on Ray; set learner to rllib (--learner rllib), or leave the address out"
            )
        if self.shared_policy and self.learner != "batched":
            raise ValueError(
                f"shared_policy: only the learner batched shares policies, not {self.learner!r}"
            )

    @property
    def learns(self) -> bool:
        """Whether the agents learn: by themselves, or policies that many searches share."""
        return self.policy or bool(self.shared_policy)

    def _check_mode(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode: got {self.mode!r}, expected {' or '.join(MODES)}")
        if self.mode != "paper" or self.learner == "rllib":
            return
        others = [f for f in fields(self) if f.name not in OF_THE_PAPER]
        unused = [f.name for f in others if getattr(self, f.name) != f.default]
        if unused:
            raise ValueError(
                f"mode: 'paper' has no {', '.join(unused)}; leave that out, or take the mode search"
            )
