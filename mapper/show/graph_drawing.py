"""A network's graph as text and as a picture: nodes from top to bottom in the order they run."""

from __future__ import annotations

import heapq
from html import escape
from typing import Any

from layers import GraphNode, NetworkGraph, NodeKind
from marl_runs import Column, print_rows

ROW, LANE, LEFT, TEXT = 18, 8, 12, 20
"""Heights and widths of the picture [px]."""
COLOURS = {
    NodeKind.MAC: "#2b6cb0",
    NodeKind.ELEMENTWISE: "#38a169",
    NodeKind.POOLING: "#d69e2e",
    NodeKind.CONCAT: "#805ad5",
    NodeKind.LAYOUT: "#a0aec0",
    NodeKind.NORM: "#dd6b20",
}


def graph_rows(graph: NetworkGraph) -> list[dict[str, Any]]:
    """A row for each node: place, name, kind, what it reads, its tensor, and its last reader."""
    places = {node.name: place for place, node in enumerate(graph.nodes)}
    rows = []
    for place, node in enumerate(graph.nodes):
        readers = graph.readers[node.name]
        rows.append(
            {
                "index": place,
                "node": node.name,
                "kind": _kind(node),
                "reads": [places.get(name, name) for name in node.reads],
                "shape": list(node.shape),
                "elements": node.elements,
                "read until": max(readers) if readers else None,
                "macs": 0 if node.layer is None else node.layer.macs,
            }
        )
    return rows


def _kind(node: GraphNode) -> str:
    return str(node.kind) if node.layer is None else node.layer.kind.lower()


def print_graph(title: str, graph: NetworkGraph) -> None:
    """Print a row for each node."""
    rows = graph_rows(graph)
    for row in rows:
        row["reads"] = ", ".join(map(str, row["reads"]))
        row["shape"] = "x".join(map(str, row["shape"]))
    columns = [
        Column.lasting("index"),
        Column.name("node"),
        Column("kind", keep=6, right=False),
        Column("reads", keep=8, right=False),
        Column("shape", keep=7, right=False),
        Column("elements", unit="", keep=4),
        Column("read until", keep=5),
        Column("macs", "MACs", unit="", keep=3),
    ]
    passes = len(rows) - len(graph.layers)
    many = f"{title}: {len(rows)} nodes, {len(graph.layers)} with MACs and {passes} without"
    print_rows(f"{many}; they run in this order", rows, "", columns)


def graph_svg(title: str, graph: NetworkGraph) -> str:
    """An SVG element: a line a node, and a lane for each tensor that is read further below."""
    places = {node.name: place for place, node in enumerate(graph.nodes)}
    lanes = _lanes(graph)
    right = LEFT + LANE * (1 + max(lanes.values(), default=-1))
    width, height = right + 640, ROW * (len(graph.nodes) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="monospace" font-size="11" role="img" '
        f'aria-label="{escape(title)}">',
        f'<text x="{LEFT}" y="{ROW - 5}">{escape(title)}</text>',
    ]
    for node in graph.nodes:
        at, x = _middle(places[node.name]), right + TEXT / 2
        if node.name in lanes:
            lane = right - LANE * (1 + lanes[node.name])
            last = _middle(max(graph.readers[node.name]))
            ends = "".join(f"M{lane} {_middle(p)}H{x}" for p in graph.readers[node.name])
            parts.append(
                f'<path d="M{x} {at}H{lane}V{last}{ends}" fill="none" '
                f'stroke="{COLOURS[node.kind]}" stroke-opacity=".6"/>'
            )
        elif graph.readers[node.name]:
            parts.append(f'<path d="M{x} {at}V{at + ROW}" stroke="#718096"/>')
    for node in graph.nodes:
        at = _middle(places[node.name])
        shape = "x".join(map(str, node.shape))
        text = f"{places[node.name]} {node.name} {_kind(node)} {shape}"
        parts.append(
            f'<rect x="{right + 5}" y="{at - 5}" width="10" height="10" rx="2" '
            f'fill="{COLOURS[node.kind]}"/>'
            f'<text x="{right + TEXT}" y="{at + 4}" fill="currentColor">{escape(text)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _middle(place: int) -> int:
    return ROW * (place + 1) + ROW // 2


def _lanes(graph: NetworkGraph) -> dict[str, int]:
    """Lanes of tensors that somebody but the next node reads; none is taken twice at a time."""
    found: dict[str, int] = {}
    ending: list[tuple[int, int]] = []
    free: list[int] = []
    for place, node in enumerate(graph.nodes):
        readers = graph.readers[node.name]
        while ending and ending[0][0] <= place:
            heapq.heappush(free, heapq.heappop(ending)[1])
        if not readers or readers == (place + 1,):
            continue
        lane = heapq.heappop(free) if free else len(ending)
        heapq.heappush(ending, (max(readers), lane))
        found[node.name] = lane
    return found
