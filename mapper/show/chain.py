"""A mapping of a chip of any depth as text: its nest, its cost by level, and what limits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cost_models import Chain, Cost
from maestro_env import UNITS
from mapper.show.cost import TITLES
from marl_common import engineering
from marl_runs import Column, print_rows, say, shown

FIGURES = (
    "latency_cycles",
    "energy_nj",
    "power_mw",
    "area_um2",
    "throughput_macs_per_cycle",
    "macs",
    "offchip_bw_req",
    "utilized_pes",
    "arithmetic_intensity",
)
"""Figures that do not name L2 or L1."""


def print_chain_details(chip: Chain, cost: Cost, bound: float) -> None:
    """Print a mapping's figures and levels on a chip, and what limits it.

    Args:
        chip: The chip.
        cost: The mapping's cost, feasible.
        bound: Fewest cycles that the layer's MACs take.
    """
    rows = [
        {"figure": TITLES[name], "value": engineering(getattr(cost, name), UNITS.get(name, ""))}
        for name in FIGURES
    ]
    print_rows("Cost", rows, "", [Column.name("figure"), Column("value", keep=9)])
    print()
    print_levels(cost)
    print()
    say("\n".join(what_limits(cost, chip, bound)))


def print_levels(cost: Cost) -> None:
    """Print a row for each level: what it holds, its accesses and its energy."""
    rows = []
    for name, level in cost.levels.items():
        row: dict[str, Any] = {"level": name, "count": level.instances}
        if name != "DRAM":
            full = (
                "" if not level.capacity_bytes else f" ({level.bytes / level.capacity_bytes:.0%})"
            )
            row["holds"] = engineering(level.bytes, "B") + full
        for way in ("read", "write"):
            row[way] = sum(ways[way] for ways in level.accesses.values())
        row["energy"] = level.energy_nj
        rows.append(row)
    print_rows(
        "Levels",
        rows,
        "holds: one of them; reads and writes: elements, in all of them",
        [
            Column.name("level"),
            Column("count", keep=5),
            Column("holds", "holds (full)", keep=7, right=True, blank=""),
            Column("read", "reads", keep=8),
            Column("write", "writes", keep=8),
            Column("energy", "energy", "nJ", keep=9),
        ],
    )


def what_limits(cost: Cost, chip: Chain, bound: float) -> Iterator[str]:
    """Say in a few lines what stands between a mapping and a better one."""
    shares = {
        name.removeprefix("share_"): share
        for name, share in cost.detail.items()
        if name.startswith("share_") and share >= 0.005
    }
    parts = sorted(shares.items(), key=lambda pair: -pair[1])
    if parts:
        yield "cycles go to " + ", ".join(f"{name} ({share:.0%})" for name, share in parts)
    inner = chip.memories[-1].name
    count = cost.levels[inner].instances or 1
    yield (
        f"{inner} at work: {shown(round(cost.utilized_pes, 1))} of {count} "
        f"({cost.utilized_pes / count:.0%}); with all MACs busy all the time: "
        f"{shown(int(bound))} cycles"
    )
