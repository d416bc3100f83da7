"""Two logarithmic axes of an SVG drawing, in the page's own colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 30, 46
STEPS = (
    (1.0,),
    (1.0, 3.0),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0),
)
"""What powers of ten are multiplied by, the more the shorter an axis is."""
FEWEST = 3
"""Ticks of an axis, at least."""


@dataclass(frozen=True)
class LogAxes:
    """Where values lie in a drawing.

    Args:
        x: First and last value across.
        y: Lowest and highest value.
        texts: How values of the two axes are written.
        left: Room for the numbers of `y`.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    texts: tuple[Callable[[float], str], Callable[[float], str]] = ("{:g}".format, "{:g}".format)
    left: float = LEFT

    def across(self, value: float) -> float:
        """Place of a value of `x`."""
        return self.left + _share(value, self.x) * (WIDTH - self.left - RIGHT)

    def down(self, value: float) -> float:
        """Place of a value of `y`."""
        return HEIGHT - BOTTOM - _share(value, self.y) * (HEIGHT - TOP - BOTTOM)

    def points(self, pairs: Iterable[tuple[float, float]]) -> str:
        """Pairs of values as the points of a line."""
        return " ".join(f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in pairs)

    def drawn(self, label: str, parts: Sequence[str], titles: tuple[str, str]) -> str:
        """The SVG element.

        Args:
            label: What it shows, for those who cannot see it.
            parts: Elements in front of the grid.
            titles: Of the two axes.
        """
        across, up = titles
        return "".join(
            [
                f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">',
                *(self._upright(value) for value in ticks(*self.x)),
                *(self._level(value) for value in ticks(*self.y)),
                *parts,
                f'<text x="{(self.left + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
                f"{escape(across)}</text>",
                f'<text transform="translate(14 {HEIGHT / 2})rotate(-90)" text-anchor="middle">'
                f"{escape(up)}</text></svg>",
            ]
        )

    def _upright(self, value: float) -> str:
        x = self.across(value)
        return (
            f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" class="grid"/>'
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">'
            f"{escape(self.texts[0](value))}</text>"
        )

    def _level(self, value: float) -> str:
        y = self.down(value)
        return (
            f'<path d="M{self.left} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>'
            f'<text x="{self.left - 6}" y="{y + 5:.1f}" text-anchor="end">'
            f"{escape(self.texts[1](value))}</text>"
        )


def ticks(low: float, high: float) -> list[float]:
    """Round values between two others; powers of ten where these are enough."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in STEPS:
        found = [step * 10.0**power for power in powers for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) >= FEWEST:
            break
    return found or [low, high]


def _share(value: float, ends: tuple[float, float]) -> float:
    """How far along a logarithmic axis a value lies, 0 to 1."""
    return math.log(value / ends[0]) / math.log(ends[1] / ends[0])
