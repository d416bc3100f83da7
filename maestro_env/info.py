"""What `reset` and `step` tell beside observation and reward."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from cost_models import ReasonCode
from maestro_env.batched_problem import BatchedProblem
from maestro_env.lazy_info import LazyInfo
from maestro_env.rewards import OBSERVED
from maestro_env.step_result import StepResult

LATER = ("cost", "infeasible")
"""Keys of a step's info that are made when somebody looks: they cost as much as the step."""


def reset_info(worlds: BatchedProblem, world: int) -> dict[str, Any]:
    """What is known of a world before a step.

    Returns:
        ``action_mask`` (see :func:`maestro_env.masks.action_masks`), ``layer`` (name of the layer
        to map next) and ``samples`` (used by this world so far).
    """
    place = worlds.position(world)
    return {
        "action_mask": worlds.masks_at(place),
        "layer": worlds.layer_names[place],
        "samples": int(worlds.samples[world]),
    }


def step_info(worlds: BatchedProblem, world: int, outcome: StepResult, row: int) -> LazyInfo:
    """What is known of a world after a step.

    Args:
        worlds: The worlds.
        world: Which one.
        outcome: Of the step.
        row: The world's row in it.

    Returns:
        :func:`reset_info`, and ``cost``, ``feasible``, ``reason``, ``infeasible``, ``value`` and
        the raw figures of the observation.
    """
    value = float(outcome.values[row])
    info = reset_info(worlds, world)
    info["feasible"] = feasible = math.isfinite(value)
    info["reason"] = ReasonCode.FEASIBLE if feasible else ReasonCode(int(outcome.reason[row]))
    info["value"] = value
    for figure in OBSERVED:
        info[figure] = float(outcome.figure(figure)[row])
    later = {key: partial(getattr(outcome, key), row) for key in LATER}
    return LazyInfo(info, later)
