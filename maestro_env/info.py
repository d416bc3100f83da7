"""What `reset` and `step` tell beside observation and reward."""

from __future__ import annotations

import math
from typing import Any

from cost_models import ReasonCode
from maestro_env.feedback import OBSERVED
from maestro_env.outcome import Outcome
from maestro_env.worlds import Worlds


def reset_info(worlds: Worlds, world: int) -> dict[str, Any]:
    """What is known of a world before a step.

    Returns:
        ``action_mask`` (see :func:`maestro_env.masks.action_masks`), ``layer`` (name of the layer
        to map next) and ``samples`` (used by this world so far).
    """
    return {
        "action_mask": worlds.masks(world),
        "layer": worlds.layer_name(world),
        "samples": int(worlds.samples[world]),
    }


def step_info(worlds: Worlds, world: int, outcome: Outcome, row: int) -> dict[str, Any]:
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
    cost = outcome.cost(row)
    value = float(outcome.values[row])
    infeasible = cost.infeasible
    if infeasible is None and not math.isfinite(value):
        infeasible = outcome.infeasible(row)
    info = reset_info(worlds, world)
    info["cost"] = cost
    info["feasible"] = infeasible is None
    info["infeasible"] = infeasible
    info["reason"] = ReasonCode.FEASIBLE if infeasible is None else infeasible.code
    info["value"] = value
    for figure in OBSERVED:
        info[figure] = getattr(cost, figure)
    return info
