"""How an environment shows its last mapping."""

from __future__ import annotations

from typing import Any

from cost_models import Accelerator
from cost_models.loop_nest import loop_nest
from layers import Layer
from maestro_env.objective import UNITS
from maestro_env.outcome import Outcome

RENDER_MODES = ("ansi", "rgb_array")

SHOWN = (
    "latency_cycles", "energy_nj", "power_mw", "area_um2", "l1_bytes", "l2_bytes", "utilized_pes",
)  # fmt: skip
"""Figures of the text view."""


def render(
    mode: str, layer: Layer, accelerator: Accelerator, outcome: Outcome | None, row: int
) -> Any:
    """Show one world's mapping.

    Args:
        mode: One of `RENDER_MODES`.
        layer: The layer it maps.
        accelerator: The accelerator.
        outcome: Of the last step; None before the first one.
        row: The world's row in it.

    Returns:
        Text for ``"ansi"``; a ``(512, 800, 3)`` uint8 picture for ``"rgb_array"``.
    """
    if mode == "ansi":
        return as_text(layer, accelerator, outcome, row)
    from maestro_env.picture import draw

    if outcome is None:
        return draw(layer, accelerator, None, None)
    return draw(layer, accelerator, outcome.mapping(row), outcome.cost(row))


def as_text(layer: Layer, accelerator: Accelerator, outcome: Outcome | None, row: int) -> str:
    """The loop nest and the costs with their units."""
    if outcome is None:
        return f"{layer.name}: no mapping yet\n"
    nest = loop_nest(outcome.mapping(row), layer, accelerator.num_pes)
    reason = outcome.infeasible(row)
    if reason is not None:
        return f"{layer.name}\n{nest}\n{reason}\n"
    cost = outcome.cost(row)
    lines = [f"{name:<16}{getattr(cost, name):>16,.1f} {UNITS[name]}" for name in SHOWN]
    return "\n".join([layer.name, nest, *lines, ""])
