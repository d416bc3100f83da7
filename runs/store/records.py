"""What goes into the store: a run's identity, the answer to a claim, how a run ended."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from runs.store.schema import RunStatus


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
    """

    state: ClaimState
    run_id: int
    attempt: int = 1


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


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: lists, dicts, and None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    return number(value) if isinstance(value, float) else value


def number(value: float | None) -> float | None:
    """`value`, or None where it is missing, infinite or not a number."""
    return float(value) if value is not None and math.isfinite(value) else None
