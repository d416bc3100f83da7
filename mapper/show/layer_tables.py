"""What the zoo or a file holds, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marl_runs import Column, print_rows

PLAIN = ("N", "groups", "dilation", "stride")
"""Fields that are 1 in most layers: the first to leave, in this order."""


def print_networks(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per network: ``network``, ``layers``, ``distinct``, ``macs``, ``weights``."""
    columns = [
        Column.name("network"),
        Column("layers", keep=4),
        Column("distinct", keep=3),
        Column("macs", "MACs", unit="", keep=2),
        Column("weights", unit="", keep=1),
    ]
    print_rows("Networks; `mapper layers NETWORK` lists the layers of one", rows, "", columns)


def print_layers(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one row per layer or distinct shape.

    Args:
        title: Name of the network or file.
        rows: ``index`` or ``count``, ``name``, ``kind``, the extents and other fields, ``macs``.
    """
    columns = [_column(key) for key in rows[0]] if rows else []
    layers = sum(row.get("count", 1) for row in rows)
    many = f"{layers} {'layer' if layers == 1 else 'layers'}"
    if rows and "count" in rows[0]:
        many += f", {len(rows)} distinct shapes"
    print_rows(f"{title}: {many}; Y and X are input extents", rows, "", columns)


def _column(key: str) -> Column:
    if key == "name":
        return Column.name(key)
    if key in ("index", "count"):
        return Column.lasting(key)
    if key == "macs":
        return Column(key, "MACs", unit="", keep=7)
    return Column(key, keep=PLAIN.index(key) if key in PLAIN else 8, right=key != "kind")
