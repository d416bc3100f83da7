"""How figures look and are written; colours are such that any colour vision tells them apart."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marl_common import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette (without yellow, which white paper hides); no grey, which is for what
stands behind."""
BACKDROP = "#9aa0a6"
"""Grey of bounds, uncut links and what else is no thing of its own."""
LINE_STYLES = ("-", "--", "-.", ":")
STYLE_CHANGES = len(COLOURS)
"""So many things in a row share a line style."""
FORMATS = (".png", ".svg", ".pdf")
PNG_DPI = 150


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


def panel_grid(
    count: int,
    columns: int,
    panel_in: tuple[float, float],
    around_in: tuple[float, float] = (0.0, 0.0),
    **shared: Any,
) -> tuple[Figure, list[Any]]:
    """A figure of panels, row by row.

    Args:
        count: Panels, at least one.
        columns: Panels in a row, at most.
        panel_in: Width and height of a panel [inch].
        around_in: Width and height beside all of them [inch].
        shared: ``sharex`` and ``sharey``, as matplotlib has them.

    Returns:
        The figure, and the axes of its panels.

    Raises:
        FigureError: matplotlib is not installed.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    (width, height), (beside, above) = panel_in, around_in
    figure = new_figure(width * columns + beside, height * rows + above)
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel().tolist()
    for empty in axes[count:]:
        empty.set_axis_off()
    return figure, axes[:count]


def writable(folder: Path) -> Path:
    """Make a folder for pictures or tables, before hours are spent on what they show.

    Raises:
        FigureError: Nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise FigureError(
            f"cannot write to {folder} ({error.strerror}); expected a folder for what is written. "
            "Name another."
        ) from None


def save_figure(figure: Figure, path: Path, *, beside: bool = True) -> list[Path]:
    """Write a figure, each file whole or not at all; the same figure gives the same files.

    Args:
        figure: The figure.
        path: Ends in ``.png`` for PNG with SVG and PDF beside it, or in ``.svg`` or ``.pdf`` for
            that alone. Its folder is made.
        beside: Whether SVG and PDF are written beside a PNG.

    Returns:
        The files.

    Raises:
        FigureError: The name ends otherwise.
        OSError: A file cannot be written.
    """
    from matplotlib import rc_context

    if path.suffix.lower() not in FORMATS:
        raise FigureError(f"{path}: expected a name that ends in {', '.join(FORMATS)}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    both = beside and path.suffix == FORMATS[0]
    paths = [path.with_suffix(one) for one in FORMATS] if both else [path]
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": path.stem}):
        for one in paths:
            with atomic_write(one) as draft:
                kind = one.suffix.lower()
                figure.savefig(draft, format=kind[1:], dpi=PNG_DPI, metadata=dates.get(kind))
    return paths
