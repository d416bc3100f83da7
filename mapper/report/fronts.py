"""The front of an exploration on a network's page: chips that no other one beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from typing import Any

from mapper.explore.design_figures import OBJECTIVES
from mapper.explore.explore_file import ExploredDesigns, design_text, figure, proven_text
from mapper.report.log_axes import RIGHT, WIDTH, LogAxes
from marl_common import engineering

MARGIN = 1.15
"""Room between the outermost points and the frame, as a factor."""
PLACE = "place"
"""Of a row that is drawn with its place among all rows alone: its key."""
MOST_NUMBERS = 60
"""Points of a front that have their number beside them."""
LEFT = 134
"""Room for the numbers of the axis that goes up, which have units."""


@dataclass(frozen=True)
class FrontView:
    """What a page shows of an exploration.

    Args:
        designs: The exploration.
        here: Objectives of the chip that the page is about, with its best mappings; empty where
            they are not known.
    """

    designs: ExploredDesigns
    here: Mapping[str, float]

    @property
    def title(self) -> str:
        """What stands above the pictures."""
        return f"Chips that no other one beats in {' and '.join(self.designs.objectives)}"

    @property
    def note(self) -> str:
        """How many designs there are, and what is marked."""
        return f"{self.designs.share}; the ring is the chip of this page"

    @cached_property
    def pictures(self) -> list[str]:
        """The first objective against each of the others, as SVG marked as markup."""
        from markupsafe import Markup

        first, *others = self.designs.objectives
        return [Markup(_picture(self, other, first)) for other in others]

    @property
    def numbered(self) -> list[str]:
        """The same pictures with the places of points among the rows instead of their names."""
        rows = tuple({**row, PLACE: at} for at, row in enumerate(self.designs.rows))
        return FrontView(replace(self.designs, rows=rows), self.here).pictures

    @property
    def header(self) -> list[str]:
        """Titles of the table."""
        return ["design", *OBJECTIVES, "mappings"]

    @property
    def table(self) -> list[list[str]]:
        """A row for each point of the front."""
        return [
            [
                design_text(row),
                *(engineering(figure(row, name), unit) for name, unit in OBJECTIVES.items()),
                proven_text(row),
            ]
            for row in self.designs.front
        ]


def _picture(front: FrontView, across: str, up: str) -> str:
    designs = front.designs
    rows = [*designs.others, *designs.front]
    places = [(figure(row, across), figure(row, up)) for row in rows]
    shown = [(front.here[across], front.here[up])] if {across, up} <= set(front.here) else []
    axes = LogAxes(
        _range([x for x, _ in places + shown]),
        _range([y for _, y in places + shown]),
        (partial(_text, across), partial(_text, up)),
        LEFT,
    )
    best = sorted((figure(row, across), figure(row, up)) for row in designs.front)
    parts = [_dot(axes, row, across, up, "part-all", 3.5) for row in designs.others]
    if len(designs.objectives) == 2:
        parts.append(f'<polyline points="{axes.points(_steps(best))}" fill="none" class="front"/>')
    parts += [_dot(axes, row, across, up, "part-MAC", 6) for row in designs.front]
    if PLACE in rows[0] and len(designs.front) <= MOST_NUMBERS:
        parts += [
            f'<text x="{axes.across(figure(row, across)) + 8:.0f}" '
            f'y="{axes.down(figure(row, up)) - 7:.0f}" class="number">{number}</text>'
            for number, row in enumerate(designs.front, 1)
        ]
    parts += [_ring(axes, x, y) for x, y in shown]
    return axes.drawn(f"{up} against {across} of {len(rows):,} points", parts, (across, up))


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values) / MARGIN, max(values) * MARGIN


def _text(objective: str, value: float) -> str:
    return engineering(value, OBJECTIVES[objective], digits=2 if f"{value:.1e}"[2] != "0" else 1)


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of the line below which no design lies."""
    found: list[tuple[float, float]] = []
    for x, y in points:
        if found:
            found.append((x, found[-1][1]))
        found.append((x, y))
    return found


def _dot(
    axes: LogAxes, row: Mapping[str, Any], across: str, up: str, look: str, radius: float
) -> str:
    x, y = figure(row, across), figure(row, up)
    drawn = (
        f'<circle cx="{axes.across(x):.1f}" cy="{axes.down(y):.1f}" r="{radius}" class="{look}" '
    )
    if PLACE in row:
        return f'{drawn}data-row="{row[PLACE]}"/>'
    told = ", ".join(engineering(figure(row, name), OBJECTIVES[name]) for name in (up, across))
    name = escape(f"{design_text(row)}: {told}")
    return f'{drawn}fill-opacity=".8"><title>{name}</title></circle>'


def _ring(axes: LogAxes, x: float, y: float) -> str:
    """The page's own chip."""
    right = axes.across(x) > WIDTH - RIGHT - 100
    return (
        f'<circle cx="{axes.across(x):.1f}" cy="{axes.down(y):.1f}" r="10" fill="none" '
        'stroke="currentColor" stroke-width="2.5"/>'
        f'<text x="{axes.across(x) + (-15 if right else 15):.1f}" y="{axes.down(y) - 8:.1f}" '
        f'text-anchor="{"end" if right else "start"}">this chip</text>'
    )
