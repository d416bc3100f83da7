"""The roofline: MACs a cycle against MACs for each byte that crosses DRAM's boundary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from mapper.report.best_mapping import BestMapping

WIDTH, HEIGHT = 640, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 30, 46
LABELS = 2
"""So many of the slowest layers, and of those that use the PEs least, have their names written."""


def roofline(layers: Sequence[BestMapping]) -> str:
    """Draw all layers of one chip.

    Args:
        layers: At least one; all on the same accelerator.

    Returns:
        An SVG element; empty where the chip's DRAM bandwidth is unlimited. Colours are the page's:
        ``part-MAC`` and so on are classes.
    """
    chip = layers[0].accelerator
    bandwidth = chip.totals()["offchip_bw"]
    points = [(one, one.cost.arithmetic_intensity, _speed(one)) for one in layers]
    points = [point for point in points if math.isfinite(point[1]) and point[1] > 0]
    if not bandwidth or not points:
        return ""
    peak = chip.peak_macs_per_cycle
    knee = peak / bandwidth
    xs, ys = [x for _, x, _ in points], [y for _, _, y in points]
    left, right = min([knee, *xs]) / 2, max([knee, *xs]) * 2
    low, high = min([*ys, peak / 10]) / 2, peak * 2

    def across(x: float) -> float:
        share = math.log(x / left) / math.log(right / left)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def down(y: float) -> float:
        share = math.log(y / low) / math.log(high / low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    begin = max(left, low / bandwidth)
    corners = ((begin, begin * bandwidth), (knee, peak), (right, peak))
    roof = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in corners)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Roofline of '
        f'{len(points)} layers">',
        *(_tick(across(x), None, f"{x:g}") for x in _powers(left, right)),
        *(_tick(None, down(y), f"{y:g}") for y in _powers(low, high)),
        f'<polyline points="{roof}" fill="none" stroke="currentColor" stroke-width="2"/>',
        f'<text x="{across(knee) + 4:.1f}" y="{down(peak) - 10:.1f}" text-anchor="end">'
        f"{peak:,} MACs a cycle</text>",
    ]
    slowest = sorted(points, key=lambda p: -p[0].count * p[0].cost.latency_cycles)[:LABELS]
    idlest = sorted(points, key=lambda p: p[0].utilisation)[:LABELS]
    whole = sum(one.count * one.cost.latency_cycles for one in layers)
    taken: list[tuple[float, float]] = []
    for point in points:
        one, x, y = point
        share = one.count * one.cost.latency_cycles / whole
        parts.append(
            f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="{5 + 14 * math.sqrt(share):.1f}" '
            f'class="part-{escape(one.limited_by)}" fill-opacity=".75"><title>{escape(one.name)}: '
            f"{y:.3g} MACs a cycle, {x:.3g} MACs an element, {share:.1%} of the cycles</title>"
            f"</circle>"
        )
    for one, x, y in {point[0].name: point for point in slowest + idlest}.values():
        parts.append(_label(one.name.rpartition(".")[2], across(x), down(y), taken))
    return "".join(
        [
            *parts,
            f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
            "MACs an element moved to or from DRAM</text>",
            f'<text transform="translate(14 {HEIGHT / 2})rotate(-90)" text-anchor="middle">'
            "MACs a cycle</text></svg>",
        ]
    )


def _speed(one: BestMapping) -> float:
    return one.layer.macs / one.cost.latency_cycles


def _label(name: str, x: float, y: float, taken: list[tuple[float, float]]) -> str:
    """A name below its circle, lower where another name stands already."""
    row = y + 26
    while any(abs(row - other) < 15 and abs(x - beside) < 100 for beside, other in taken):
        row += 15
    taken.append((x, row))
    side = "end" if x > WIDTH - 90 else "start" if x < LEFT + 60 else "middle"
    return f'<text x="{x:.1f}" y="{row:.1f}" text-anchor="{side}">{escape(name)}</text>'


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]


def _tick(x: float | None, y: float | None, text: str) -> str:
    """A grid line and its number: upright where `x` is given."""
    if x is not None:
        return (
            f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" class="grid"/>'
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{text}</text>'
        )
    return (
        f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>'
        f'<text x="{LEFT - 6}" y="{(y or 0) + 5:.1f}" text-anchor="end">{text}</text>'
    )
