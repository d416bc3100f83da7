"""Let dimensions share an axis where AccelForge's mapper does, beside its answers.

    python -m benchmarks field_axes

The cases of `docs/data/field.csv` on `edge`, and those where another tool's answer is lower, with
its values from there: proofs of the space in which up to three dimensions share an axis, and of
uneven mappings too where that is not as low. Values by the tools' rules: energy [nJ], latency
[cycles] or their product. Exits with 1 where ours is higher on `edge` beside AccelForge.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.field.cases import FieldCase
from benchmarks.field.ours import Ours, proven
from benchmarks.field.row import digits
from benchmarks.field.table import SAME
from benchmarks.frame import DATA, Row, Table, known

AXES = {"axis_dims": 3}
TOOLS = ("accelforge", "zigzag-loma")


def keys(_: Any) -> Iterator[tuple[str, ...]]:
    """The cases, with the tool's answer and ours of one dimension an axis."""
    for row in known(DATA / "field.csv"):
        if row["tool"] in TOOLS and (row["chip"] == "edge" or float(row["ratio"]) > SAME):
            names = ("tool", "chip", "layer", "objective", "theirs", "ours")
            yield tuple(row[name] for name in names)


def row_of(_: Any, *key: str) -> Row:
    """Ours of the larger spaces."""
    _tool, chip, layer, objective, theirs, _ours = key
    case = FieldCase(layer, chip, objective)
    shared = proven(case, AXES)
    row = _named("axes", shared)
    least = shared.value
    if least > float(theirs):
        uneven = proven(case, AXES | {"uneven": True})
        row |= _named("uneven", uneven)
        least = min(least, uneven.value)
    return row | {"ratio": round(least / float(theirs), 5)}


def _named(name: str, found: Ours) -> Row:
    return {
        name: digits(found.value),
        f"{name}_bound": digits(found.bound),
        f"{name}_cpu_s": round(found.cpu_s, 2),
    }


def told(rows: list[Row], _: Any) -> bool:
    """Print in how many cases ours is as low; true where it is not, on two levels."""
    ratios = [float(r["ratio"]) for r in rows if (r["tool"], r["chip"]) == (TOOLS[0], "edge")]
    print(f"{sum(ratio <= 1 for ratio in ratios)} of {len(ratios)} as low or lower on edge")
    return max(ratios, default=0.0) > 1


TABLE = Table(
    __doc__,
    (
        *("tool", "chip", "layer", "objective", "theirs", "ours"),
        *("axes", "axes_bound", "axes_cpu_s", "uneven", "uneven_bound", "uneven_cpu_s", "ratio"),
    ),
    keys,
    row_of,
    "field-axes.csv",
    told=told,
)
