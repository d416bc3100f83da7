"""What `mst flops` counts for the arms of each preset.

python -m benchmarks mst.flops
"""

from __future__ import annotations

from typing import Any

from benchmarks.frame import Table, shown
from mst.counting import flops_rows
from mst.presets import PRESETS

ARMS = ("dense", "tiny", "static", "rigl", "mst")


def counted(given: Any, preset: str) -> list[tuple[Any, ...]]:
    """A row an arm and kind of head."""
    chosen = PRESETS[preset]
    return [
        (
            *(row[name] for name in ("arm", "head", "tokens")),
            f"{row['flops']:.3e}",
            *(f"{row[f'times fewer, {head} head']:.2f}" for head in ("dense", "masked")),
            *(f"{row[f'executed, {backend}']:.3e}" for backend in ("masked", "compiled")),
        )
        for row in flops_rows(chosen.config, chosen.tokens)
        if row["arm"] in ARMS
    ]


TABLE = Table(
    __doc__,
    (
        *("preset", "arm", "head", "tokens", "counted FLOPs"),
        *(f"times below dense, {head} head" for head in ("dense", "masked")),
        *("executed by masks", "executed by kernels"),
    ),
    lambda _: ((name,) for name in PRESETS),
    counted,
    "mst-flops.csv",
    told=shown,
)
