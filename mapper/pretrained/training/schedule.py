"""How long each stage of a training lasts, and how it learns."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from mapper.pretrained.network import HIDDEN


@dataclass(frozen=True)
class Schedule:
    """How long each stage lasts and how it learns.

    A stage is counted in steps, so that a seed gives the same agents on any machine.

    Args:
        imitate_steps: Imitation of the best mappings found, while new ones are being found.
        refine_steps: Policy gradient, with a little imitation beside it.
        problems: Random problems a policy-gradient step.
        samples: Proposals per problem.
        blocks: Blocks of `problems` kept at hand; a policy-gradient step takes one of them.
        visits: Steps after which a fresh block takes the place of the oldest: how often, in the
            mean, the agents meet a problem.
        expert_problems: Problems whose best mappings are searched as imitation begins.
        expert_samples: Samples of such a search.
        refresh_every: Imitation steps between two rounds of expert iteration.
        refresh_problems: Problems a round.
        refresh_samples: Samples of a search from the agents' proposals.
        imitation_batch: Mappings an imitation step.
        imitation_rate: Adam's step in imitation; it falls by a cosine to a twentieth.
        refine_rate: Adam's step in policy gradient, likewise.
        entropy: Weight of the entropy bonus at the start; it falls to `entropy_floor`.
        entropy_floor: What stays of it, so that the agents keep proposing different mappings.
        beside: Weight of imitation beside the policy gradient.
        hidden: Width of the networks.
        shards: Parts that the sampling of a step is split into. Each has random numbers of its own,
            so that the agents are the same however many workers share them.
    """

    imitate_steps: int = 2500
    refine_steps: int = 3200
    problems: int = 48
    samples: int = 16
    blocks: int = 12
    visits: int = 6
    expert_problems: int = 1800
    expert_samples: int = 2000
    refresh_every: int = 80
    refresh_problems: int = 60
    refresh_samples: int = 624
    imitation_batch: int = 256
    imitation_rate: float = 1.5e-3
    refine_rate: float = 1e-3
    entropy: float = 0.03
    entropy_floor: float = 0.01
    beside: float = 0.3
    hidden: int = HIDDEN
    shards: int = 4

    def scaled(self, share: float) -> Schedule:
        """The same stages, each `share` times as long."""
        values = asdict(self)
        for name in ("imitate_steps", "refine_steps", "expert_problems"):
            least = min(1, values[name])
            values[name] = max(least, round(values[name] * share))
        return Schedule(**values)

    @property
    def steps(self) -> int:
        """All steps."""
        return self.imitate_steps + self.refine_steps


def falling(rate: float, share: float) -> float:
    """A rate that falls by a cosine from `rate` to a twentieth of it, as `share` goes to 1."""
    return rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(share, 1.0))))
