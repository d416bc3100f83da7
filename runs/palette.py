"""How figures look: colours that people with any colour vision can tell apart, and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
    *("#7f3c8d", "#8c8c00", "#a0522d", "#666666", "#ff69b4", "#2f4f4f", "#b22222"),
)
"""Okabe and Ito's palette, and a few more."""
LINE_STYLES = ("-", "--", "-.", ":")
STYLE_CHANGES = 7
"""So many colours in a row share a line style."""


class FigureError(ValueError):
    """A figure that cannot be drawn here."""


def colour(place: int) -> str:
    """The colour of the place-th thing in a figure."""
    return COLOURS[place % len(COLOURS)]


def line_style(place: int) -> str:
    """The line style of the place-th curve in a figure."""
    return LINE_STYLES[place // STYLE_CHANGES % len(LINE_STYLES)]


def new_figure(width_in: float, height_in: float) -> Figure:
    """A figure that belongs to no window (pyplot, which keeps global state, is not used).

    Args:
        width_in: Width [inch].
        height_in: Height [inch].

    Raises:
        FigureError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise FigureError(
            "figures need matplotlib, which is not installed; "
            "install it with: pip install 'marl-mapper[viz]'"
        ) from None
    return Figure(figsize=(width_in, height_in), layout="constrained")
