"""How an environment shows its last mapping."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator, Chain, loop_nest, nest_of_loops
from layers import Layer
from maestro_env.batched_problem import BatchedProblem
from maestro_env.checks import check_choice
from maestro_env.objective import OF_TWO_LEVELS, UNITS
from maestro_env.step_result import StepResult

RENDER_MODES = ("ansi", "rgb_array")

SHOWN = (
    "latency_cycles", "energy_nj", "power_mw", "area_um2", "l1_bytes", "l2_bytes", "utilized_pes",
)  # fmt: skip
"""Figures of the text view."""


def checked_mode(mode: str | None) -> str | None:
    """A ``render_mode`` as it came.

    Raises:
        EnvError: It is none of `RENDER_MODES`, nor None.
    """
    if mode is not None:
        check_choice("render_mode", mode, RENDER_MODES)
    return mode


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
    from maestro_env.chain_picture import draw_chain
    from maestro_env.picture import draw, frame

    if outcome is None:
        text = f"{layer.name}: no mapping yet"
        return frame(lambda figure: figure.text(0.5, 0.5, text, ha="center", size=14))
    shown = layer, problem.accelerator, outcome.mapping(0), outcome.cost(0)
    fill: Any = draw_chain if isinstance(problem.accelerator, Chain) else draw
    return frame(lambda figure: fill(figure, *shown))


def as_text(layer: Layer, accelerator: Accelerator | Chain, outcome: StepResult | None) -> str:
    """The loop nest and the costs with their units."""
    if outcome is None:
        return f"{layer.name}: no mapping yet\n"
    mapping, shown = outcome.mapping(0), list(SHOWN)
    if isinstance(accelerator, Chain):
        nest = nest_of_loops(mapping.loops(layer, accelerator))
        shown = [name for name in SHOWN if name not in OF_TWO_LEVELS]
    else:
        nest = loop_nest(mapping, layer, accelerator.num_pes)
    reason = outcome.infeasible(0)
    if reason is not None:
        return f"{layer.name}\n{nest}\n{reason}\n"
    cost = outcome.cost(0)
    lines = [f"{name:<16}{getattr(cost, name):>16,.1f} {UNITS[name]}" for name in shown]
    return "\n".join([layer.name, nest, *lines, ""])
