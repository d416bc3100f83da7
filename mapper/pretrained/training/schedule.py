"""How long a training lasts, and how it learns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mapper.pretrained.network import HIDDEN


@dataclass(frozen=True)
class Schedule:
    """How long a training lasts and how it learns.

    It is counted in steps, so that a seed gives the same agents on any machine.

    Args:
        steps: Imitation of the best mappings found, while new ones are being found.
        expert_problems: Problems whose best mappings are searched at the beginning.
        refresh_every: Steps between two rounds of expert iteration.
        refresh_problems: Problems a round.
        samples: Samples of a search from the agents' proposals.
        learning_rate: Adam's step; it falls by a cosine to a twentieth.
        hidden: Width of the networks.
        shards: Parts that the searches of a step are split into. Each has random numbers of its
            own, so that the agents are the same however many workers share them.
    """

    steps: int = 6_000
    expert_problems: int = 300
    refresh_every: int = 40
    refresh_problems: int = 64
    samples: int = 300
    learning_rate: float = 1.5e-3
    hidden: int = HIDDEN
    shards: int = 4

    def scaled(self, share: float) -> Schedule:
        """The same training, `share` times as long."""
        steps, problems = (max(1, round(n * share)) for n in (self.steps, self.expert_problems))
        return replace(self, steps=steps, expert_problems=problems)


def falling(rate: float, share: float) -> float:
    """A rate that falls by a cosine from `rate` to a twentieth of it, as `share` goes to 1."""
    return rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(share, 1.0))))
