"""The data card: README.md for people, croissant.json (Croissant 1.0, JSON-LD) for programs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.optima.problems import DATA_VERSION

Row = Mapping[str, Any]
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "column": "cr:column",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}
FIELDS = {
    "id": ("sc:Text", "The problem; its folder in problems/"),
    "network": ("sc:Text", "First network that has the layer"),
    "layer": ("sc:Text", "The layer: network and place in it"),
    "chip": ("sc:Text", "The chip"),
    "objective": ("sc:Text", "What is minimised"),
    "halo_time": ("sc:Text", "retain: window rows that the next tile needs stay; none: not"),
    "split_network": ("sc:Text", "train, validation or test, by network"),
    "split_chip": ("sc:Text", "train, validation or test, by chip"),
    "status": ("sc:Text", "optimal: proven; boxes, timeout: open"),
    "value": ("sc:Float", "Best known value; of an optimal row the optimum"),
    "bound": ("sc:Float", "No mapping of the space has a lower value"),
    "gap": ("sc:Float", "value / bound - 1; 0 where it is proven"),
    "unit": ("sc:Text", "Unit of value and bound"),
    "size": ("sc:Text", "Mappings of the space; a text, as it is beyond 2^63"),
    "boxes": ("sc:Integer", "Boxes of the proof"),
    "cpu_s": ("sc:Float", "Processor time of the proof [s]"),
    "mapping": ("sc:Text", "The mapping of value, as JSON"),
    "certificate_sha256": ("sc:Text", "Digest of the certificate; of deep chips there is none"),
    "check_cpu_s": ("sc:Float", "Processor time of the certificate's check [s]"),
    "timeloop_files": ("sc:Text", "What Timeloop's files say: problem and optimum, or problem"),
    "zigzag_files": ("sc:Text", "ZigZag's likewise"),
    "accelforge_files": ("sc:Text", "AccelForge's likewise"),
}
"""Columns of the table: type and meaning."""
VALUES = tuple(FIELDS)[:16]
"""Columns that are kept in the repository; the others are built."""


def croissant(table: Path, names: Sequence[str]) -> dict[str, Any]:
    """The data card in Croissant's terms, of a table with some of the columns."""
    columns = [
        {
            "@type": "cr:Field",
            "@id": f"optima/{name}",
            "name": name,
            "description": FIELDS[name][1],
            "dataType": FIELDS[name][0],
            "source": {"fileObject": {"@id": "optima.csv"}, "extract": {"column": name}},
        }
        for name in names
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "mapping-optima",
        "description": "Problems of mapping DNN layers onto accelerators, with proven optima",
        "version": DATA_VERSION,
        "license": "https://spdx.org/licenses/MIT",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "optima.csv",
                "name": "optima.csv",
                "contentUrl": "optima.csv",
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256(table.read_bytes()).hexdigest(),
            }
        ],
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "optima", "name": "optima", "field": columns}
        ],
    }


CARD = Path(__file__).with_name("card.md")


def card(rows: Sequence[Row], empty: int) -> str:
    """The data card for people."""
    proven = [row for row in rows if row["status"] == "optimal"]
    lines = ["| chip | problems | proven | split |", "|---|---|---|---|"]
    solved = Counter(row["chip"] for row in proven)
    for chip, count in Counter(row["chip"] for row in rows).items():
        split = next(row["split_chip"] for row in rows if row["chip"] == chip)
        lines.append(f"| {chip} | {count} | {solved[chip]} | {split} |")
    return CARD.read_text(encoding="utf-8").format(
        version=DATA_VERSION,
        count=len(rows),
        proven=len(proven),
        open=len(rows) - len(proven),
        by_chip="\n".join(lines),
        empty=empty,
    )
