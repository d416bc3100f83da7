"""The table of an exploration's front."""

from __future__ import annotations

from cost_models import prices_wires
from mapper.explore.design_figures import OBJECTIVES, gap_text
from mapper.explore.design_rows import COLUMN_OF, front_table, share_text
from mapper.explore.design_space import FIELDS, bytes_text, short_name, value_text
from mapper.explore.exploration import Exploration
from mapper.explore.hints import end_lines, wires_line
from mapper.explore.ranking import rank_text
from marl_runs import Column, print_rows, say

RANK = Column("place", "rank", keep=10, right=True)
OF_SHORT_FORM = (
    Column("num_pes", "PEs", keep=10),
    Column("l1", "L1", keep=9, right=True),
    Column("l2", "L2", keep=9, right=True),
    Column("noc_bw", "NoC", keep=7),
    Column("offchip_bw", "DRAM", keep=7),
)


def print_exploration(done: Exploration) -> None:
    """Print the front of an exploration, and what became of the other designs."""
    first = done.front[0].design
    if prices_wires(first.chip):
        say(f"{wires_line(first.chip)}\n")
    swept = first.fields
    rows = front_table(done)
    columns = [RANK] if any(row["shares_rank"] for row in rows) else []
    for row in rows:
        rank = rank_text(row["rank"], row["shares_rank"])
        row |= {"mappings": gap_text(row["gap"]), "place": rank}
    if swept.keys() <= FIELDS.keys():
        columns += OF_SHORT_FORM
        for row in rows:
            row |= {"l1": bytes_text(row["l1_bytes"]), "l2": bytes_text(row["l2_bytes"])}
    else:
        columns += [Column(path, short_name(path), keep=10, right=True) for path in swept]
        for row in rows:
            row |= {path: value_text(path, row[path]) for path in swept}
    counted = done.counted()
    share = share_text(
        counted["designs_on_the_front"], counted["designs"], counted["points_on_the_front"]
    )
    aims = done.plan.objectives
    for name in dict.fromkeys([*aims, *OBJECTIVES]):  # what was not aimed at leaves first
        keep = 9 if name in aims else 3
        columns.append(Column(COLUMN_OF[name], name, OBJECTIVES[name], keep=keep))
    columns.append(Column("mappings", keep=8, right=True))
    title = f"{done.plan.network}: {share} that no other one beats in {' and '.join(aims)}"
    print_rows(title, rows, "\n".join(notes_of(done)), columns)


def notes_of(done: Exploration) -> list[str]:
    """Sentences about designs off the front, and about what the gaps say."""
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
