"""How a search's parameters evolved, as a table."""

from __future__ import annotations

from mapper.explaining.evolution import Evolution
from marl_runs import Column, print_rows


def print_evolution(name: str, evolution: Evolution) -> None:
    """Print one row per parameter: its agent, its value after so many samples, when it settled.

    On a narrow terminal the earliest samples leave first.
    """
    rows = evolution.rows()
    steps = [key for key in rows[0] if key.startswith("@")] if rows else []
    columns = [
        Column("agent", keep=len(steps) + 1),
        Column.name("parameter"),
        *(Column(step, keep=place, right=True) for place, step in enumerate(steps)),
        Column.lasting("settled"),
    ]
    last = int(evolution.settled.max(initial=0))
    print_rows(name, rows, f"all settled after {last:,} samples\n", columns)
