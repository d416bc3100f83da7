"""What `mst flops` counts for the arms of each preset.

python -m benchmarks mst.flops
"""

from __future__ import annotations

from typing import Any

from benchmarks.frame import Row, Table, shown
from mst.counting import flops_rows
from mst.presets import PRESETS

ARMS = ("dense", "tiny", "static", "rigl", "mst")
BELOW = "times below dense"


def counted(given: Any, preset: str) -> list[Row]:
    """A row an arm and kind of head."""
    chosen = PRESETS[preset]
    return [
        {
            "arm": row["arm"],
            "head": row["head"],
            "tokens": row["tokens"],
            "counted FLOPs": f"{row['flops']:.3e}",
            f"{BELOW}, dense head": f"{row['times fewer, dense head']:.2f}",
            f"{BELOW}, masked head": f"{row['times fewer, masked head']:.2f}",
            "executed by masks": f"{row['executed, masked']:.3e}",
            "executed by kernels": f"{row['executed, compiled']:.3e}",
        }
        for row in flops_rows(chosen.config, chosen.tokens)
        if row["arm"] in ARMS
    ]


TABLE = Table(
    __doc__,
    (
        *("preset", "arm", "head", "tokens", "counted FLOPs"),
        *(f"{BELOW}, {head} head" for head in ("dense", "masked")),
        *("executed by masks", "executed by kernels"),
    ),
    lambda _: ((name,) for name in PRESETS),
    counted,
    "mst-flops.csv",
    told=shown,
)
