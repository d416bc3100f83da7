"""One HTML page of a network whose tensors stay: what stays over time, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from mapper.staying.kept_figures import comparison, fused_words, stay_lines
from mapper.staying.kept_network import KeptNetwork
from mapper.staying.rooms import home_of
from marl_common import engineering, write_text
from marl_runs import made_with

HEIGHT, LEFT, TOP, LEAST_WIDTH, NODE_WIDTH = 260, 64, 12, 640, 9
FUSED = "#718096"
COLOURS = ("#2b6cb0", "#38a169", "#d69e2e", "#805ad5", "#dd6b20", "#319795", "#b83280")


def write_staying_page(path: Path, kept: KeptNetwork) -> bool:
    """Write the page, whole or not at all; False where jinja2 is not installed."""
    try:
        import jinja2
    except ImportError:
        return False
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    source = files("mapper.staying").joinpath("staying_page.html.j2").read_text(encoding="utf-8")
    page = environment.from_string(source).render(
        network=kept.network,
        home=home_of(kept.chip).name,
        objective=kept.objective,
        lines=stay_lines(kept),
        totals=[_cells(row) for row in comparison(kept)],
        picture=timeline(kept),
        nodes=[_node_cells(step) for step in kept.best.steps],
        command=made_with().command,
    )
    write_text(path, page)
    return True


def _cells(row: dict[str, Any]) -> list[str]:
    units = {"latency_cycles": "", "energy_nj": "nJ", "edp": "cycles * nJ", "dram_bytes": "B"}
    figures = [
        row[name] if isinstance(row[name], str) else engineering(row[name], unit)
        for name, unit in units.items()
    ]
    return [row["schedule"], *figures, row["proven"]]


def _node_cells(step: Any) -> list[str]:
    return [
        step.node.name,
        ", ".join(sorted(step.resident)),
        "" if step.fused is None else fused_words(step.fused),
        engineering(step.taken, "B") if step.taken else "",
        engineering(step.latency, ""),
        engineering(step.energy, "nJ"),
        engineering(step.dram, "B"),
    ]


def timeline(kept: KeptNetwork) -> str:
    """An SVG element: bytes that tensors and tiles take, by node."""
    steps = kept.best.steps
    capacity = (home_of(kept.chip).capacity_bits or 0) / 8
    tiles = [step.known.needs if step.known else 0.0 for step in steps]
    most = max([t + step.taken for t, step in zip(tiles, steps, strict=True)] + [capacity or 1])
    wide = max(LEAST_WIDTH, NODE_WIDTH * len(steps))
    each, tall = wide / len(steps), HEIGHT / most

    def box(place: int, count: int, low: float, size: float, fill: str, title: str) -> str:
        return (
            f'<rect x="{LEFT + place * each:.1f}" y="{TOP + HEIGHT - (low + size) * tall:.2f}" '
            f'width="{count * each:.1f}" height="{size * tall:.2f}" fill="{fill}" '
            f'fill-opacity=".8"><title>{escape(title)}</title></rect>'
        )

    parts = [
        f'<svg viewBox="0 0 {LEFT + wide + 8:.0f} {HEIGHT + 40}" width="{LEFT + wide + 8:.0f}" '
        f'font-size="12" role="img" aria-label="{home_of(kept.chip).name} over time">'
    ]
    parts += _tensors(kept, box)
    for place, step in enumerate(steps):
        if step.fused is not None:
            low = sum(room.taken(place) for room in kept.staying) / 8
            size = step.taken - low
            title = f"{step.node.name}: fused tensors and filters, {engineering(size, 'B')}"
            parts.append(box(place, 1, low, size, FUSED, title))
        if tiles[place]:
            title = f"{step.node.name}: tiles, {engineering(tiles[place], 'B')}"
            parts.append(box(place, 1, step.taken, tiles[place], "#cbd5e0", title))
    if capacity:
        line = TOP + HEIGHT - capacity * tall
        parts.append(
            f'<path d="M{LEFT} {line:.1f}H{LEFT + wide:.0f}" stroke="#c53030"/>'
            f'<text x="4" y="{line + 4:.1f}">{engineering(capacity, "B")}</text>'
        )
    parts.append(
        f'<text x="4" y="{TOP + HEIGHT}">0 B</text><text x="{LEFT}" y="{TOP + HEIGHT + 20}">'
        f"node 0</text></svg>"
    )
    return "".join(parts)


def _tensors(kept: KeptNetwork, box: Any) -> Sequence[str]:
    """A box for each stretch of nodes over which a tensor lies at one height."""
    parts: list[str] = []
    for number, room in enumerate(kept.staying):
        begun, before = room.first, None
        for place in range(room.first, room.last + 2):
            low = None
            if place <= room.last:
                others = (one for one in kept.staying[:number])
                low = sum(one.taken(place) for one in others) / 8, room.taken(place) / 8
            if low != before:
                if before is not None:
                    title = f"{' = '.join(room.tensors)}: {engineering(before[1], 'B')}"
                    colour = COLOURS[number % len(COLOURS)]
                    parts.append(box(begun, place - begun, *before, colour, title))
                begun, before = place, low
    return parts
