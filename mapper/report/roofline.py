"""The roofline: MACs a cycle against MACs for each byte that crosses DRAM's boundary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from cost_models import Accelerator, Chain
from mapper.report.best_mapping import BestMapping
from mapper.report.log_axes import LEFT, WIDTH, LogAxes

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
    bandwidth = _dram_bytes(chip)
    points = [
        (one, one.cost.arithmetic_intensity, one.layer.macs / one.cost.latency_cycles)
        for one in layers
    ]
    points = [point for point in points if math.isfinite(point[1]) and point[1] > 0]
    if not bandwidth or not points:
        return ""
    peak = chip.peak_macs_per_cycle
    knee = peak / bandwidth
    xs, ys = [x for _, x, _ in points], [y for _, _, y in points]
    axes = LogAxes(
        (min([knee, *xs]) / 2, max([knee, *xs]) * 2), (min([*ys, peak / 10]) / 2, peak * 2)
    )
    begin = max(axes.x[0], axes.y[0] / bandwidth)
    corners = ((begin, begin * bandwidth), (knee, peak), (axes.x[1], peak))
    parts = [
        f'<polyline points="{axes.points(corners)}" fill="none" stroke="currentColor" '
        'stroke-width="2"/>',
        f'<text x="{axes.across(knee) + 4:.1f}" y="{axes.down(peak) - 10:.1f}" text-anchor="end">'
        f"{peak:,} MACs a cycle</text>",
    ]
    slowest = sorted(points, key=lambda p: -p[0].count * p[0].cost.latency_cycles)[:LABELS]
    idlest = sorted(points, key=lambda p: p[0].utilisation)[:LABELS]
    whole = sum(one.count * one.cost.latency_cycles for one in layers)
    for one, x, y in points:
        share = one.count * one.cost.latency_cycles / whole
        parts.append(
            f'<circle cx="{axes.across(x):.1f}" cy="{axes.down(y):.1f}" '
            f'r="{5 + 14 * math.sqrt(share):.1f}" '
            f'class="part-{escape(one.limited_by)}" fill-opacity=".75"><title>{escape(one.name)}: '
            f"{y:.3g} MACs a cycle, {x:.3g} MACs an element, {share:.1%} of the cycles</title>"
            f"</circle>"
        )
    taken: list[tuple[float, float]] = []
    for one, x, y in {point[0].name: point for point in slowest + idlest}.values():
        parts.append(_label(one.name.rpartition(".")[2], axes.across(x), axes.down(y), taken))
    return axes.drawn(
        f"Roofline of {len(points)} layers",
        parts,
        ("MACs an element moved to or from DRAM", "MACs a cycle"),
    )


def _dram_bytes(chip: Accelerator | Chain) -> int | None:
    """Bytes a cycle over DRAM's port, in the slower direction; None where it is unlimited."""
    if not isinstance(chip, Chain):
        return chip.totals()["offchip_bw"]
    limits = [bits for bits in (chip.levels[0].read_bw, chip.levels[0].write_bw) if bits]
    return min(limits) // 8 if limits else None


def _label(name: str, x: float, y: float, taken: list[tuple[float, float]]) -> str:
    """A name below its circle, lower where another name stands already."""
    row = y + 26
    while any(abs(row - other) < 15 and abs(x - beside) < 100 for beside, other in taken):
        row += 15
    taken.append((x, row))
    side = "end" if x > WIDTH - 90 else "start" if x < LEFT + 60 else "middle"
    return f'<text x="{x:.1f}" y="{row:.1f}" text-anchor="{side}">{escape(name)}</text>'
