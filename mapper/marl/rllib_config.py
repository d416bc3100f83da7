"""Options of the learner on RLlib."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields

from baselines import SearcherError
from mapper.clustering.assignment import Assignment
from mapper.marl.config import MODES, MarlConfig, check_dataset, check_numbers

REWARDS = ("improvement", "relative")


@dataclass(frozen=True)
class RllibConfig:
    """Options of :class:`~mapper.marl.searcher.MarlRllib`; each means what it means for marl.

    Args:
        mode: ``"search"``, or ``"paper"``: observation and reward are the paper's, as printed.
        agents: ``"auto"``, a number of agents, a file, or an assignment.
        ray_address: Ray cluster to train on: ``auto`` or ``HOST:PORT``; none starts one here.
        dataset: Random samples of this problem to cluster the agents from; 0 takes none.
        count_dataset: Whether those samples count against the budget.
        hidden: Width of an agent's network.
        learning_rate: Adam's step.
        batch: Samples of a PPO update.
        epochs: Passes over a batch.
        clip: PPO's clipping range of the probability ratio.
        entropy: Weight of the entropy bonus at the start; it falls linearly to 0 with the budget.
        reward: ``"improvement"`` (log of a typical sample's value over this one's, clipped) or
            ``"relative"`` (best value so far over the sample's); not in the mode paper.
        checkpoint: Where to write the policies every `checkpoint_every` samples and at the end;
            if the file exists, they are the first ones.
        checkpoint_every: Samples between two checkpoints.
    """

    mode: str = "search"
    agents: str | int | Assignment = "auto"
    ray_address: str = ""
    dataset: int = 0
    count_dataset: bool = False
    hidden: int = 16
    learning_rate: float = 1e-2
    batch: int = 128
    epochs: int = 4
    clip: float = 0.2
    entropy: float = 0.01
    reward: str = "improvement"
    checkpoint: str = ""
    checkpoint_every: int = 5000

    def __post_init__(self) -> None:
        check_numbers(self)
        check_dataset(self)
        if self.mode not in MODES:
            raise ValueError(f"mode: got {self.mode!r}, expected {' or '.join(MODES)}")
        if self.mode == "paper" and self.reward != REWARDS[0]:
            raise ValueError(
                f"reward: got {self.reward!r}, but the mode paper has its own; leave it out"
            )
        if self.reward not in REWARDS:
            raise ValueError(
                f"reward: got {self.reward!r}, expected {' or '.join(REWARDS)} on RLlib"
            )

    @classmethod
    def of(cls, config: MarlConfig) -> RllibConfig:
        """What marl's options say to this learner.

        Raises:
            SearcherError: Options are set that it does not have.
        """
        mine = {field.name for field in fields(cls)}
        others = [f for f in fields(MarlConfig) if f.name not in mine and f.name != "learner"]
        unused = [
            field.name
            for field in others
            if field.default is not MISSING and getattr(config, field.name) != field.default
        ]
        if unused:
            raise SearcherError(
                f"learner 'rllib': does not have {', '.join(unused)}; leave that out, or take the "
                "learner batched"
            )
        try:
            return cls(**{name: getattr(config, name) for name in mine})
        except ValueError as error:
            raise SearcherError(f"learner 'rllib': {error}") from error
