"""An exploration as rows: of its front, and of every design, for tables, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cost_models import Accelerator, Chain, loop_nest, nest_of_loops
from mapper.explore.design_figures import OBJECTIVES, OF_MAPPINGS, Design, FrontPoint
from mapper.explore.design_space import FIELDS, label_of
from mapper.explore.exploration import Exploration
from marl_common import atomic_write

COLUMN_OF = {
    "latency": "latency_cycles",
    "energy": "energy_nj",
    "edp": "edp_cycles_nj",
    "area": "area_um2",
    "power": "power_mw",
}
"""What files call an objective, with its unit."""


def share_text(on: int, designs: int, points: int) -> str:
    """How many designs are on a front, and how many choices of mappings where those are more.

    Such as ``31 of 600 designs (203 points)``.
    """
    return f"{on:,} of {designs:,} designs" + (f" ({points:,} points)" if points > on else "")


def front_table(exploration: Exploration) -> list[dict[str, Any]]:
    """A row for each point of the front, by the first objective, with its place."""
    places = exploration.ranks
    return [
        row_of(exploration, point) | {"rank": rank, "shares_rank": shared}
        for point, (rank, shared) in zip(exploration.front, places, strict=True)
    ]


def row_of(exploration: Exploration, point: FrontPoint) -> dict[str, Any]:
    """The design, figures, what no mapping goes below, and the gap."""
    bounds = point.design.bounds(exploration.plan.counts)
    return {
        **_fields(point.design),
        **{COLUMN_OF[name]: point.figures[name] for name in OBJECTIVES},
        **{f"least_{COLUMN_OF[name]}": bounds[name] for name in OF_MAPPINGS},
        "gap": point.gap,
        "proven": " ".join(sorted(point.design.proven)),
    }


def all_rows(exploration: Exploration) -> list[dict[str, Any]]:
    """The rows of the front, and one of every other design: its best for the first aim."""
    rows = [{**row, "front": 1, "why": ""} for row in front_table(exploration)]
    on = {id(point.design) for point in exploration.front}
    return rows + [_other(exploration, d) for d in exploration.designs if id(d) not in on]


def best_point(exploration: Exploration, design: Design) -> FrontPoint | None:
    """A design's best choice of mappings for the first aim; None where it has none."""
    plan = exploration.plan
    aim = plan.aims[0]
    points = [(exploration.figures(design, point), point) for point in design.points]
    if not points:
        return None
    figures, point = min(points, key=lambda pair: pair[0][aim])
    gap = design.gap(figures, plan.objectives, plan.counts)
    return FrontPoint(design, point, figures, gap)


def _other(exploration: Exploration, design: Design) -> dict[str, Any]:
    point = best_point(exploration, design)
    row: dict[str, Any] = {"front": 0, "why": design.why}
    if point is None:
        return _fields(design) | {COLUMN_OF["area"]: design.area} | row
    return row_of(exploration, point) | row


def _fields(design: Design) -> dict[str, Any]:
    """What it is called, the short form of a chip of two levels, and its swept fields."""
    totals = design.chip.totals() if isinstance(design.chip, Accelerator) else {}
    row: dict[str, Any] = {name: totals[name] for name in FIELDS if name in totals}
    swept = {name: value for name, value in design.fields.items() if name not in row}
    return row | swept | {"design": label_of(design.chip)}


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, whole or not at all; what one of them lacks is left empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as draft, draft.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, names, restval="")
        writer.writeheader()
        writer.writerows(rows)


def loop_nests(exploration: Exploration, point: FrontPoint) -> list[tuple[str, str]]:
    """Of a point, each shape's name and loop nest; none where tensors stay."""
    from mapper.explore.mapping_rows import batch_of

    if exploration.plan.kept is not None:
        return []
    design = point.design
    found = []
    for layer, offer, row in zip(
        exploration.plan.workload.layers, design.offers, point.point.choice, strict=True
    ):
        chip: Any = design.chip
        mapping: Any = batch_of(offer.rows[row : row + 1], chip)[0]
        if isinstance(chip, Chain):
            nest = nest_of_loops(mapping.loops(layer, chip))
        else:
            nest = loop_nest(mapping, layer, chip.num_pes)
        found.append((layer.name, nest))
    return found
