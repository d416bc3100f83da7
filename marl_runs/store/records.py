"""What goes into the store: a run's identity, the answer to a claim, how a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


def folder_name(key: str) -> str:
    """What the folder of a run is called."""
    return key[:16]


class ClaimState(Enum):
    """Answer to a claim."""

    CLAIMED = "claimed"
    FINISHED = "finished"
    BUSY = "busy"


@dataclass(frozen=True)
class RunIdentity:
    """What makes two runs the same one, and what a table says about it.

    Args:
        key: Stable text that is equal for equal runs.
        kind: Kind of experiment, such as ``"search"``.
        name: For people.
        seed: The run's seed.
        budget: The run's budget, in the experiment's own unit (samples, episodes).
        spec: The whole definition, as JSON values.
    """

    key: str
    kind: str
    name: str
    seed: int
    budget: int
    spec: dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """Whether this process may do a run.

    Args:
        state: CLAIMED: do it; FINISHED: it is done; BUSY: another process is at it.
        run_id: Its number in the store.
        attempt: 1 for the first time it is done.
        unlike: Where it is new: what there is to say of an interrupted run of the same name, which
            other options or another version of the program made another run.
    """

    state: ClaimState
    run_id: int
    attempt: int = 1
    unlike: str = ""


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Args:
        status: FINISHED, FAILED or INTERRUPTED.
        samples: Samples (or steps of the experiment's budget) done.
        best_value: Best objective, or None.
        wall_s: Wall time [s].
        cpu_s: Processor time of the worker [s].
        result: What the experiment returned, as JSON values.
        error: Why it failed.
    """

    status: RunStatus
    samples: int = 0
    best_value: float | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    result: Mapping[str, Any] | None = None
    error: str | None = None
