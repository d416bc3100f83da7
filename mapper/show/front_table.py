"""The table of an exploration's front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cost_models import prices_wires
from marl_runs import Column, print_rows, say

if TYPE_CHECKING:
    from mapper.explore.exploration import Exploration

FIGURE_COLUMNS = {
    "latency": ("latency_cycles", "cycles"),
    "energy": ("energy_nj", "nJ"),
    "edp": ("edp_cycles_nj", "cycles * nJ"),
    "area": ("area_um2", "um^2"),
    "power": ("power_mw", "mW"),
}


RANK = Column("place", "rank", keep=10, right=True)
OF_SHORT_FORM = (
    Column("num_pes", "PEs", keep=10),
    Column("l1", "L1", keep=9, right=True),
    Column("l2", "L2", keep=9, right=True),
    Column("noc_bw", "NoC", keep=7),
    Column("offchip_bw", "DRAM", keep=7),
)


def print_front(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    columns: list[Column],
    objectives: Sequence[str],
    note: str,
) -> None:
    """Print the table.

    Args:
        title: What stands above it.
        rows: Of :func:`mapper.explore.design_rows.front_table`, with what `columns` show of the
            designs, and ``mappings``, as texts.
        columns: Of the designs.
        objectives: What was explored; the other figures leave first.
        note: What stands below it.
    """
    order = [*objectives, *(name for name in FIGURE_COLUMNS if name not in objectives)]
    for name in order:
        key, unit = FIGURE_COLUMNS[name]
        columns.append(Column(key, name, unit, keep=9 if name in objectives else 3))
    columns.append(Column("mappings", keep=8, right=True))
    print_rows(title, rows, note, columns)


def print_exploration(done: Exploration) -> None:
    """Print the front of an exploration, and what became of the other designs."""
    from mapper.explore.design_figures import gap_text
    from mapper.explore.design_rows import front_table, share_text
    from mapper.explore.design_space import FIELDS, bytes_text, short_name, value_text
    from mapper.explore.hints import wires_line
    from mapper.explore.ranking import rank_text

    first = done.front[0].design
    if prices_wires(first.chip):
        say(f"{wires_line(first.chip)}\n")
    swept = first.fields
    places = [RANK] if any(row["shares_rank"] for row in front_table(done)) else []
    rows = [
        row
        | {
            "mappings": gap_text(row["gap"]),
            "place": rank_text(row["rank"], row["shares_rank"]),
        }
        for row in front_table(done)
    ]
    if swept.keys() <= FIELDS.keys():
        columns = [*places, *OF_SHORT_FORM]
        for row in rows:
            row |= {"l1": bytes_text(row["l1_bytes"]), "l2": bytes_text(row["l2_bytes"])}
    else:
        columns = [*places]
        columns += [Column(path, short_name(path), keep=10, right=True) for path in swept]
        for row in rows:
            row |= {path: value_text(path, row[path]) for path in swept}
    counted = done.counted()
    share = share_text(
        counted["designs_on_the_front"], counted["designs"], counted["points_on_the_front"]
    )
    print_front(
        f"{done.plan.network}: {share} that no other one beats in "
        f"{' and '.join(done.plan.objectives)}",
        rows,
        columns,
        done.plan.objectives,
        "\n".join(notes_of(done)),
    )


def notes_of(done: Exploration) -> list[str]:
    """Sentences about designs off the front, and about what the gaps say."""
    from mapper.explore.hints import end_lines

    counted = done.counted()
    found = end_lines(done.front_designs, done.designs)
    shared = sum(is_shared for _, is_shared in done.ranks)
    if shared:
        found.append(f"~: {shared:,} points that bounds do not tell from another one of their rank")
    if done.front:
        worst = max(point.gap for point in done.front)
        share = f"{100 * worst:.2g} %" if worst < 10 else "an unknown share"
        found.append(
            f"no choice of mappings makes a design of the front better by more than {share}"
        )
    off = counted["designs"] - counted["designs_on_the_front"]
    parts = [
        (counted["proven_off_the_front"], "proven to be off the front whatever their mappings"),
        (counted["without_mapping"], "without a mapping of some layer"),
        (counted["too_large"], "above the limit on area"),
    ]
    told = [f"{count:,} {what}" for count, what in parts if count]
    if off:
        found.append(f"of the {off:,} others: {', '.join(told) or 'none proven off the front'}")
    return found
