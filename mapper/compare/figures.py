"""The figures: drawn from the numbers of :mod:`mapper.compare.curves`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from maestro_env import Objective
from mapper.compare.curves import Bar, bands, ratio_bars, target_bars
from mapper.compare.summary import PREFERRED, Summary
from marl_runs import BACKDROP, Band, colour, line_style, new_figure, panel_grid, save_figure

PANEL_IN = (4.6, 3.6)
COLUMNS = 3
FIRST_SHARE = 0.005
"""Curves begin after this share of the budget: before it, methods only draw their first samples."""
FIRST_TICK = 10.0
"""Samples at which the axis of samples to a target begins."""
CROWD = 6
"""With more methods than this, bands are drawn fainter."""


def figures(summary: Summary) -> Iterator[tuple[str, Any]]:
    """All figures of a board: a file name without ending, and a matplotlib figure.

    Raises:
        FigureError: matplotlib is not installed.
    """
    for objective in summary.objectives:
        yield f"curves-{objective}", curves_figure(summary, objective)
        yield f"ratios-{objective}", ratios_figure(summary, objective)
        yield f"targets-{objective}", targets_figure(summary, objective)


def write_figures(summary: Summary, folder: Path) -> list[Path]:
    """Draw all figures as PNG, SVG and PDF, each written whole or not at all."""
    board = summary.board
    paths = []
    for name, figure in figures(summary):
        safe = name.replace("*", "-")
        path = folder / f"{safe}-{board.cost_model}-{board.accelerator}-{board.budget}.png"
        paths += save_figure(figure, path)
    return paths


def curves_figure(summary: Summary, objective: str) -> Any:
    """Best so far against samples, one panel a layer, with the middle half of the seeds shaded."""
    unit = Objective.parse(objective).unit
    figure, panels = _panels(summary, objective, PANEL_IN[1])
    places = {method: place for place, method in enumerate(summary.methods)}
    handles: dict[str, Any] = {}
    for axis, case in panels:
        found = bands(summary, case)
        for method, band in found.items():
            handles[method] = _draw_band(axis, band, method, places[method], len(places))
        floor = summary.floor(case)
        if floor is not None:
            value, kind = floor
            look = {"color": BACKDROP, "linewidth": 1.5, "linestyle": (0, (1, 2))}
            handles[kind] = axis.axhline(value, **look)
        axis.set(xscale="log", yscale="log", title=case.layer)
        _zoom(axis, list(found.values()), summary.board.budget)
        axis.grid(alpha=0.25, which="both", linewidth=0.5)
    figure.suptitle(f"Best {objective} so far\n{summary.board}", fontsize=11)
    figure.supxlabel("samples", fontsize=10)
    figure.supylabel(f"{objective} [{unit}], median, middle half", fontsize=10)
    legend = figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=9)
    _embolden(legend.get_texts())
    return figure


def targets_figure(summary: Summary, objective: str) -> Any:
    """Samples until a run is near the best known value, one panel a layer."""
    figure, panels = _panels(summary, objective, 0.9 + 0.26 * len(summary.methods))
    for axis, case in panels:
        _draw_bars(axis, target_bars(summary, case), high=max(summary.board.budget, 20))
        axis.set_title(case.layer)
    share = f"{100 * (summary.target - 1):g} %"
    figure.suptitle(f"Samples to target, {objective}\n{summary.board}", fontsize=11)
    figure.supxlabel(
        f"median samples to within {share} of the best known value (runs that got there)",
        fontsize=10,
    )
    return figure


def ratios_figure(summary: Summary, objective: str) -> Any:
    """Geometric mean of the ratios to the reference; a small dot for each layer's own below it."""
    bars = ratio_bars(summary, objective)
    figure = new_figure(7.5, 1.6 + 0.42 * len(bars))
    axis = figure.subplots()
    values = [value for bar in bars for value in (bar.value, *bar.parts) if value is not None]
    _draw_dots(axis, bars, low=min([1.0, *values]), high=max([1.1, *values]))
    axis.set_title(f"Ratio to {summary.reference}, {objective}\n{summary.board}", fontsize=11)
    axis.set_xlabel("value / reference; below 1 is better (large: geometric mean, small: layers)")
    return figure


def _panels(summary: Summary, objective: str, height_in: float) -> tuple[Any, list[Any]]:
    """A figure with a panel for each layer: pairs of axis and case."""
    cases = [case for case in summary.cases if case.objective == objective]
    columns = 2 if len(cases) == 4 else COLUMNS
    figure, axes = panel_grid(len(cases), columns, (PANEL_IN[0], height_in), (1.9, 0.9))
    return figure, list(zip(axes, cases, strict=True))


def _zoom(axis: Any, found: list[Band], budget: int) -> None:
    """Leave out the first samples, whose values would squeeze all that follows into the floor."""
    first = max(1.0, FIRST_SHARE * budget)
    axis.set_xlim(first, max(1.1 * budget, 10 * first))
    seen = [value for band in found for value in band.median[band.samples >= first]]
    values = np.array([value for value in seen if np.isfinite(value)])
    if len(values) == 0:
        axis.annotate("no mapping", (0.5, 0.6), xycoords="axes fraction", ha="center")
        return
    floors = [line.get_ydata()[0] for line in axis.get_lines()[len(found) :]]
    low, high = min([values.min(), *floors]), values.max()
    margin = max(1.02, (high / low) ** 0.05)
    axis.set_ylim(low / margin, high * margin)


def _draw_band(axis: Any, band: Band, method: str, place: int, methods: int) -> Any:
    """The curve over its band; the first of the methods lies on top, and `PREFERRED` is thick."""
    look = {"color": colour(place), "linestyle": line_style(place), "drawstyle": "steps-post"}
    ours = method == PREFERRED
    (line,) = axis.plot(
        band.samples,
        band.median,
        linewidth=3.2 if ours else 1.4,
        zorder=3.5 if ours else 3 - place / 100,
        **look,
    )
    axis.fill_between(
        band.samples,
        band.low,
        band.high,
        color=colour(place),
        alpha=0.18 if ours else 0.12 if methods <= CROWD else 0.05,
        lw=0,
        step="post",
    )
    return line


def _draw_bars(axis: Any, bars: list[Bar], high: float) -> None:
    """Horizontal bars from the axis on, on a log scale that shows up to `high`, with their text."""
    low = FIRST_TICK
    span = high / low
    axis.set(xscale="log", xlim=(low, high * span**0.45))
    for place, bar in enumerate(bars):
        end = low if bar.value is None else max(low, bar.value)
        axis.barh(place, end - low, left=low, color=colour(place), height=0.7)
        _write(axis, bar.text, (end, place), bar.method)
    _name_rows(axis, bars)
    _plain_ticks(axis, span)


def _draw_dots(axis: Any, bars: list[Bar], low: float, high: float) -> None:
    """A large dot a row with its text, and small ones for its parts below it, on a log scale."""
    span = high / low
    axis.set(xscale="log", xlim=(low / span**0.05, high * span**0.15))
    for place, bar in enumerate(bars):
        if len(bar.parts) > 1:
            rows = [place + 0.28] * len(bar.parts)
            axis.plot(bar.parts, rows, "o", color=colour(place), markersize=3, alpha=0.6)
        if bar.value is not None:
            axis.plot([1.0, bar.value], [place - 0.08] * 2, color=BACKDROP, linewidth=1, zorder=1)
            axis.plot([bar.value], [place - 0.08], "o", color=colour(place), markersize=8)
        _write(axis, bar.text, (1.0 if bar.value is None else bar.value, place - 0.08), bar.method)
    axis.axvline(1.0, color="0.3", linewidth=1, zorder=1)
    axis.spines["left"].set_visible(False)
    _name_rows(axis, bars)
    _plain_ticks(axis, span)


def _write(axis: Any, text: str, place: tuple[float, float], method: str) -> None:
    axis.annotate(
        text,
        place,
        (8, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        fontweight="bold" if method == PREFERRED else "normal",
    )


def _name_rows(axis: Any, bars: list[Bar]) -> None:
    axis.set_yticks(range(len(bars)), [bar.method for bar in bars])
    _embolden(axis.get_yticklabels())
    axis.set_ylim(len(bars) - 0.5, -0.5)
    axis.spines[["top", "right"]].set_visible(False)


def _embolden(texts: Iterable[Any]) -> None:
    """Our method among the others."""
    for text in texts:
        if text.get_text() == PREFERRED:
            text.set_fontweight("bold")


def _plain_ticks(axis: Any, span: float) -> None:
    """Ticks as people write numbers; between the powers of ten only where there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    fine = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    steps = (
        fine
        if span < 2.5
        else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
        if span < 20
        else (1.0, 3.0)
        if span < 300
        else (1.0,)
    )
    axis.xaxis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.tick_params(labelsize=9)
