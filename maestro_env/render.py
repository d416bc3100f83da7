"""How an environment shows its last mapping."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator, loop_nest
from layers import Layer
from maestro_env.batched_problem import BatchedProblem
from maestro_env.objective import UNITS
from maestro_env.step_result import StepResult

RENDER_MODES = ("ansi", "rgb_array")

SHOWN = (
    "latency_cycles", "energy_nj", "power_mw", "area_um2", "l1_bytes", "l2_bytes", "utilized_pes",
)  # fmt: skip
"""Figures of the text view."""


def render(
    mode: str, worlds: BatchedProblem, position: int, action: NDArray[np.int64] | None
) -> Any:
    """Show a mapping; no sample is counted.

    Args:
        mode: One of `RENDER_MODES`.
        worlds: The worlds.
        position: Place in their sequence of the layer that is mapped.
        action: ``(P,)`` the mapping; None before the first step.

    Returns:
        Text for ``"ansi"``; a ``(512, 800, 3)`` uint8 picture for ``"rgb_array"``.
    """
    problem = worlds.problems[position]
    layer = replace(problem.layer, name=worlds.layer_names[position])
    outcome = None if action is None else worlds.look(position, action)
    if mode == "ansi":
        return as_text(layer, problem.accelerator, outcome)
    from maestro_env.picture import draw

    if outcome is None:
        return draw(layer, problem.accelerator, None, None)
    return draw(layer, problem.accelerator, outcome.mapping(0), outcome.cost(0))


def as_text(layer: Layer, accelerator: Accelerator, outcome: StepResult | None) -> str:
    """The loop nest and the costs with their units."""
    if outcome is None:
        return f"{layer.name}: no mapping yet\n"
    nest = loop_nest(outcome.mapping(0), layer, accelerator.num_pes)
    reason = outcome.infeasible(0)
    if reason is not None:
        return f"{layer.name}\n{nest}\n{reason}\n"
    cost = outcome.cost(0)
    lines = [f"{name:<16}{getattr(cost, name):>16,.1f} {UNITS[name]}" for name in SHOWN]
    return "\n".join([layer.name, nest, *lines, ""])
