"""The picture of an exploration: all designs, and those that no other one beats."""

from __future__ import annotations

from typing import Any

from mapper.explore.design_figures import OBJECTIVES
from mapper.explore.design_rows import best_point, share_text
from mapper.explore.exploration import Exploration
from marl_runs import colour, panel_grid

PANEL_IN = (5.6, 4.4)
SCALES = {name: (1.0, unit) for name, unit in OBJECTIVES.items()} | {
    "area": (1e-6, "mm²"), "energy": (1e-6, "mJ"), "edp": (1e-9, "J·cycles"),
}  # fmt: skip
"""What pictures show an objective in: a factor, and the unit."""


def front_figure(exploration: Exploration) -> Any:
    """A panel for the first objective against each of the others.

    Raises:
        FigureError: matplotlib is not installed.
    """
    first, *others = exploration.plan.objectives
    figure, axes = panel_grid(len(others), len(others), PANEL_IN)
    on = {id(point.design) for point in exploration.front}
    off = [best_point(exploration, d) for d in exploration.designs if id(d) not in on]
    rest = [point.figures for point in off if point is not None]
    best = [point.figures for point in exploration.front]
    for axis, other in zip(axes, others, strict=True):
        for figures, look in (
            (rest, {"s": 10, "color": "0.75", "label": "other designs"}),
            (best, {"s": 26, "color": colour(0), "label": "front", "zorder": 3}),
        ):
            x, y = ([f[name] * SCALES[name][0] for f in figures] for name in (other, first))
            axis.scatter(x, y, **look)
        axis.set(xscale="log", yscale="log", xlabel=_axis(other), ylabel=_axis(first))
        axis.grid(alpha=0.25, which="both", linewidth=0.5)
        axis.legend(fontsize=9)
    figure.suptitle(
        f"{exploration.plan.network}: "
        f"{share_text(len(on), len(exploration.designs), len(best))} that no other beats",
        fontsize=11,
    )
    return figure


def _axis(name: str) -> str:
    return f"{name} [{SCALES[name][1]}]"
