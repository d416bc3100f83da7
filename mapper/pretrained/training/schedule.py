"""How long a training lasts, and how it learns."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.pretrained.network import HIDDEN
from mapper.pretrained.weights import PretrainedError

CPU_MINUTES = 15
"""Processor time that the default schedule takes on the reference machine [min]."""
MOST_MINUTES = 10**6


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


def schedule_of(cpu_minutes: float) -> Schedule:
    """The schedule that takes about so much processor time on the reference machine.

    Raises:
        PretrainedError: `cpu_minutes` is not above 0, or beyond all measure.
    """
    if not 0 < cpu_minutes <= MOST_MINUTES:
        raise PretrainedError(
            f"--cpu-minutes: got {cpu_minutes}, expected a number above 0 and at most "
            f"{MOST_MINUTES:,}, such as 15"
        )
    default, share = Schedule(), cpu_minutes / CPU_MINUTES
    steps, problems = (max(1, round(n * share)) for n in (default.steps, default.expert_problems))
    return Schedule(steps, problems)
