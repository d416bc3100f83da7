"""How long a training takes at least, said before it begins."""

from __future__ import annotations

from mst.config import PretrainConfig
from mst.errors import MstError
from mst.flops import planned, schedule_of

OPERATIONS_S = {"cpu": 1e11, "cuda": 1e14}
"""Operations that a thread of a processor, or a GPU, does at best [1/s]."""
LONGEST_DAYS = 100
PART = 10_000
"""Updates whose work is planned step by step; a longer run has as much an update."""


def check_duration(config: PretrainConfig, tokens: int, threads: int) -> None:
    """Refuse a training that takes more than a hundred days at best.

    Args:
        config: Its settings.
        tokens: Its length.
        threads: Threads of the processor.

    Raises:
        MstError: It does; says about how long it takes.
    """
    updates = config.updates(tokens)
    part = min(updates, PART)
    work = planned(config, part).theory.total * updates / part
    device = "cpu" if config.device == "cpu" else "cuda"
    rate = OPERATIONS_S[device] * (threads if device == "cpu" else 1)
    days = work / rate / 86_400
    if days > LONGEST_DAYS:
        raise MstError(
            f"tokens={tokens:,}: training takes about {days:,.0f} days or more ({work:.2g} "
            f"operations, at {rate:.0e} a second); lower --tokens, or take a smaller model."
        )
    schedule_of(config, updates).moments()  # refuses too many topology steps
