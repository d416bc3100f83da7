"""The picture of a tiling as SVG: that of `render_mode="rgb_array"`, a small drawing a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from cost_models import Accelerator, Mapping
from layers import Layer
from maestro_env.picture import COLOURS, THIN, caption, drawn_axes
from maestro_env.tiling import BufferView, tiling, titled

WIDTH, HEIGHT = 160, 110
"""Of a drawing, in its own units; its frame leaves room for the names of the axes."""
LEFT, BOTTOM = 16, 16


@dataclass(frozen=True)
class LevelPicture:
    """What one level of buffers holds at a mapping's first step.

    Args:
        title: Which buffers.
        views: A caption and an SVG element for each tensor.
    """

    title: str
    views: tuple[tuple[str, str], ...]


def level_pictures(
    layer: Layer, accelerator: Accelerator, mapping: Mapping
) -> tuple[LevelPicture, LevelPicture]:
    """Draw what L2 and the PEs of one cluster hold at a mapping's first step.

    Args:
        layer: The mapped layer.
        accelerator: Gives the number of PEs where the mapping does not.
        mapping: The mapping.

    Returns:
        L2 and L1. Lines and text have the colour of the page (``currentColor``).
    """
    l2, l1 = (
        LevelPicture(title, tuple(map(_drawn, views)))
        for title, views in titled(tiling(layer, accelerator, mapping), mapping)
    )
    return l2, l1


def _drawn(view: BufferView) -> tuple[str, str]:
    down, across = drawn_axes(view)
    (y0, y1), (x0, x1) = view.frame[down], view.frame[across]
    width, height = WIDTH - LEFT, HEIGHT - BOTTOM
    text = caption(view, (down, across))
    shapes: dict[tuple[str, bool], list[str]] = {}
    for place, part in enumerate(view.parts):
        top, bottom = ((edge - y0) / (y1 - y0) * height for edge in part[down])
        left, right = (LEFT + (edge - x0) / (x1 - x0) * width for edge in part[across])
        thin = min((bottom - top) / height, (right - left) / width) < THIN
        path = f"M{left:.5g} {top:.5g}h{right - left:.4g}v{bottom - top:.4g}H{left:.5g}z"
        shapes.setdefault((COLOURS[place % len(COLOURS)], thin), []).append(path)
    paths = "".join(
        f'<path d="{"".join(found)}" fill="{colour}" fill-opacity=".8" '
        f'stroke="{colour if thin else "white"}" stroke-width=".5"/>'
        for (colour, thin), found in shapes.items()
    )
    lines = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(text)}">'
        f'<rect x="{LEFT}" width="{width}" height="{height}" fill="currentColor" '
        f'fill-opacity=".08" stroke="currentColor" stroke-opacity=".4" stroke-width=".5"/>{paths}'
        f'<g fill="currentColor" font-size="10">'
        f'<text x="{LEFT}" y="{HEIGHT - 4}">{x0}</text>'
        f'<text x="{LEFT + width / 2}" y="{HEIGHT - 4}" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text x="{WIDTH}" y="{HEIGHT - 4}" text-anchor="end">{x1}</text>'
        f'<text transform="translate(11 {height})rotate(-90)">{y0}</text>'
        f'<text transform="translate(11 {height / 2})rotate(-90)" text-anchor="middle">'
        f"{escape(down)}</text>"
        f'<text transform="translate(11 0)rotate(-90)" text-anchor="end">{y1}</text>'
        f"</g></svg>"
    )
    return text, lines
