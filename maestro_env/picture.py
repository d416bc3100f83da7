"""The picture of a tiling: which part of each tensor sits in which buffer, level by level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator, Cost, Mapping
from layers import Layer
from maestro_env.extras import needed
from maestro_env.tiling import BufferView, tiling, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE_INCHES = (10.0, 6.4)
DPI = 80
"""With `SIZE_INCHES` this makes frames of 800 x 512 pixels."""

THIN = 0.03
"""Parts that cover less of an axis have no white border: it would hide them."""

COLOURS = ("#2a6f97", "#e07a5f", "#3d9970", "#b5838d", "#8d6cab", "#d4a017", "#4f8fba", "#c05746")
"""Parts of neighbouring holders take neighbouring colours, over and over."""


def frame(fill: Callable[[Any], None]) -> NDArray[np.uint8]:
    """What is drawn into a figure, as ``(512, 800, 3)`` uint8.

    Args:
        fill: Draws into the figure that it is given.

    Raises:
        gymnasium.error.DependencyNotInstalled: matplotlib is missing (extra ``viz``).
    """
    with needed("matplotlib", "viz"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    figure = Figure(figsize=SIZE_INCHES, dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    fill(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def draw(figure: Any, layer: Layer, accelerator: Accelerator, mapping: Mapping, cost: Cost) -> None:
    """Draw what L2 and the PEs of one cluster hold at a mapping's first step.

    Args:
        figure: The figure.
        layer: The mapped layer.
        accelerator: Gives buffer sizes and PEs.
        mapping: The mapping.
        cost: Its cost.
    """
    grid = figure.add_gridspec(
        2, 4, width_ratios=(1, 1, 1, 0.95), left=0.05, right=0.98, top=0.84, bottom=0.07,
        hspace=0.5, wspace=0.32,
    )  # fmt: skip
    figure.suptitle(f"{layer.name}   {_summary(cost)}", x=0.05, ha="left", size=11, weight="bold")
    for row, (title, level) in enumerate(titled(tiling(layer, accelerator, mapping), mapping)):
        for column, view in enumerate(level):
            axes = figure.add_subplot(grid[row, column])
            _draw_view(axes, view)
            if column == 0:
                axes.text(0, 1.24, title, transform=axes.transAxes, size=10, color="#222222")
    _draw_buffers(figure.add_subplot(grid[0, 3]), accelerator, cost)
    _write_loops(figure.add_subplot(grid[1, 3]), mapping)


def _summary(cost: Cost) -> str:
    if cost.infeasible is not None:
        return f"infeasible: {cost.infeasible.code.name.lower().replace('_', ' ')}"
    return (
        f"{cost.latency_cycles:,.0f} cycles   {cost.energy_nj:,.0f} nJ   "
        f"{cost.utilized_pes:.1f} PEs at work"
    )


def _draw_view(axes: Axes, view: BufferView) -> None:
    from matplotlib.patches import Rectangle

    down, across = drawn_axes(view)
    (y0, y1), (x0, x1) = view.frame[down], view.frame[across]
    axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor="#eeeeee", edgecolor="#999999"))
    for i, part in enumerate(view.parts):
        (top, bottom), (left, right) = part[down], part[across]
        colour = COLOURS[i % len(COLOURS)]
        thin = min((bottom - top) / (y1 - y0), (right - left) / (x1 - x0)) < THIN
        axes.add_patch(
            Rectangle(
                (left, top),
                right - left,
                bottom - top,
                facecolor=colour,
                edgecolor=colour if thin else "white",
                alpha=0.75,
                linewidth=0.5,
            )
        )
    axes.set_xlim(x0, x1)
    axes.set_ylim(y1, y0)
    axes.set_xticks([x0, x1])
    axes.set_yticks([y0, y1])
    axes.tick_params(labelsize=7, length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(across, size=8, labelpad=-6)
    axes.set_ylabel(down, size=8, labelpad=-8)
    axes.set_title(caption(view, (down, across)), size=8, loc="left")


def drawn_axes(view: BufferView) -> tuple[str, str]:
    """The two axes to draw: first those in which parts differ, then the largest."""
    axes = list(view.frame)

    def rank(axis: str) -> tuple[bool, int]:
        low, high = view.frame[axis]
        alike = all(part[axis] == view.parts[0][axis] for part in view.parts)
        return alike, low - high

    first, second = sorted(sorted(axes, key=rank)[:2], key=axes.index)
    return first, second


def caption(view: BufferView, plane: tuple[str, str]) -> str:
    """A tensor's name, its tile along the axes that are not drawn, and how many share a part."""
    first = view.parts[0]
    rest = [
        f"{axis} {first[axis][1] - first[axis][0]}/{high - low}"
        for axis, (low, high) in view.frame.items()
        if axis not in plane
    ]
    count = len(view.parts)
    shared = "" if count == view.holders else f"  {count} for {view.holders}"
    if count == 1 < view.holders:
        shared = f"  shared by {view.holders}"
    return f"{view.tensor}  {', '.join(rest)}{shared}"


def _draw_buffers(axes: Axes, accelerator: Accelerator, cost: Cost) -> None:
    """How full L1 and L2 are."""
    demands, bars = _demands(cost), []
    for name, limit in (("l2", accelerator.l2_bytes), ("l1", accelerator.l1_bytes)):
        demand = demands[name]
        share = 0.0 if limit is None or demand is None else min(1.0, demand / limit)
        over = limit is not None and demand is not None and demand > limit
        used = "?" if demand is None else f"{demand:,.0f} B"
        allowed = "unlimited" if limit is None else f"{limit:,} B"
        colour = "#b3261e" if over else "#5b6770"
        bars.append((share, colour, f"{name.upper()}  {used} of {allowed}"))
    draw_bars(axes, bars)


def draw_bars(axes: Axes, bars: Sequence[tuple[float, str, str]]) -> None:
    """Draw a bar for each buffer: the share of it that is full, in a colour, below a text."""
    for row, (share, colour, text) in enumerate(bars):
        axes.barh(row, 1.0, color="#eeeeee", height=0.35)
        axes.barh(row, share, color=colour, height=0.35)
        axes.text(0, row - 0.28, text, size=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.axis("off")


def _demands(cost: Cost) -> dict[str, float | None]:
    """Bytes needed in each buffer, as far as the cost tells."""
    if cost.infeasible is None:
        return {"l1": cost.l1_bytes, "l2": cost.l2_bytes}
    demands: dict[str, float | None] = {"l1": None, "l2": None}
    if cost.infeasible.code.name in ("L1_CAPACITY", "L2_CAPACITY"):
        demands[cost.infeasible.code.name[:2].lower()] = cost.infeasible.demand
    return demands


def _write_loops(axes: Axes, mapping: Mapping) -> None:
    axes.axis("off")
    lines = []
    said = mapping.to_dict()
    for name, order, tiles in zip(("L2", "L1"), said["orders"], said["tiles"], strict=True):
        lines.append(f"{name} loops  {' '.join(order)}")
        lines += [f"  tile {dim}  {tiles[dim]}" for dim in order if dim in tiles]
    axes.text(0, 1.05, "\n".join(lines), size=7.5, family="monospace", va="top")
