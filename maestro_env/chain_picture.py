"""The picture of a mapping on a chip of any depth: its loops, and how full each memory is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cost_models import Chain, ChainMapping, Cost, nest_of_loops
from layers import Layer
from maestro_env.picture import draw_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = 26
"""Loops that fit the picture; the innermost ones are left out."""


def draw_chain(figure: Any, layer: Layer, chip: Chain, mapping: ChainMapping, cost: Cost) -> None:
    """Draw the loops of a mapping, and a bar for each memory.

    Args:
        figure: The figure.
        layer: The mapped layer.
        chip: The chip.
        mapping: The mapping.
        cost: Its cost.
    """
    figure.suptitle(f"{layer.name}   {_summary(cost)}", x=0.05, ha="left", size=11)
    lines = nest_of_loops(mapping.loops(layer, chip)).splitlines()
    shown = lines[:LINES] + (["..."] if len(lines) > LINES else [])
    figure.text(0.05, 0.9, "\n".join(shown), family="monospace", size=7.5, va="top")
    _draw_memories(figure.add_axes((0.72, 0.1, 0.26, 0.78)), chip, cost)


def _summary(cost: Cost) -> str:
    if cost.infeasible is not None:
        return f"infeasible: {cost.infeasible.message}"[:90]
    return f"{cost.latency_cycles:,.0f} cycles   {cost.energy_nj:,.0f} nJ"


def _draw_memories(axes: Axes, chip: Chain, cost: Cost) -> None:
    """A bar for each memory: how much of its capacity one instance needs."""
    bars = []
    for level in chip.memories:
        held = cost.levels.get(level.name)
        if held is None:
            text, share = "", 0.0
        elif held.capacity_bytes is None:
            text, share = f"{held.bytes:,.0f} B of any", 0.0
        else:
            text = f"{held.bytes:,.0f} of {held.capacity_bytes:,.0f} B"
            share = held.bytes / held.capacity_bytes
        bars.append((share, "#5b6770", f"{level.name}  {text}"))
    draw_bars(axes, bars)
