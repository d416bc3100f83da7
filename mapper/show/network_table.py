"""The result of a network's search: a row for each distinct shape, and the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import layers
from cost_models import Accelerator, Chain
from maestro_env import Objective
from mapper.show.speed import speed_lines
from marl_common import engineering, percent
from marl_runs import Column, print_rows, say

FIGURES = ("latency_cycles", "energy_nj")
"""Figures that every row shows, whatever is minimised."""


def own_name(layer: str) -> str:
    """The name of a layer without that of its network, if that is one of the zoo."""
    head, _, own = layer.partition(".")
    return own if own and layers.is_network(head) else layer


def print_network(
    network: str,
    rows: Sequence[Mapping[str, Any]],
    totals: Mapping[str, float],
    objective: Objective,
    chip: Accelerator | Chain | None = None,
) -> None:
    """Print the verdict on a network, its table, and its speed.

    Args:
        network: Its name.
        rows: One row a shape: ``layer``, ``count``, ``macs``, ``latency_cycles``, ``energy_nj``,
            ``objective`` (its value), ``x bound``, ``samples``, ``gap`` (above what is proven, as a
            share; 0 where it is the optimum); None where there is no result.
        totals: Sums over all layers: ``layers``, ``macs``, ``latency_cycles``, ``energy_nj``,
            ``edp``, ``seconds``.
        objective: What was minimised.
        chip: Where it runs; None where a layer has no mapping, so that there is no speed.
    """
    sums = {name: totals[name] for name in ("macs", *FIGURES)}
    whole = {"layer": "all layers", "count": int(totals["layers"]), **sums}
    value = f"{engineering(totals['edp'], 'cycles * nJ', 4)} (latency times energy)"
    if _is_a_sum(objective):
        value = engineering(totals[objective.figures[0]], objective.unit, 4)
    say(f"{network}: {value}{_proven(rows)}\n")
    print_rows(
        f"{len(rows)} distinct shapes, {_searched(totals['seconds'])}",
        rows,
        "",
        _columns(objective, rows),
        total=whole,
    )
    if chip is not None:
        figures = (totals[name] for name in (*FIGURES, "macs"))
        say("\n".join(["", *speed_lines(chip, *figures)]))


def _is_a_sum(objective: Objective) -> bool:
    """Whether it is a figure whose sum every table has."""
    return objective.figures in [(figure,) for figure in FIGURES]


def _searched(seconds: float) -> str:
    """How long the search took that was done now."""
    return f"searched in {seconds:.1f} s" if seconds else "searched before"


def _proven(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many answers are optimal; nothing where nothing was proven."""
    gaps = [row["gap"] for row in rows if row.get("gap") is not None]
    if not gaps:
        return ""
    optimal = sum(gap == 0 for gap in gaps)
    rest = "" if optimal == len(gaps) else f", the others within {percent(max(gaps))} of it"
    return f"; {optimal} of {len(rows)} shapes proven optimal{rest}"


def _columns(objective: Objective, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    columns = [
        Column.name("layer"),
        Column("count", keep=5),
        Column("macs", "MACs", "", keep=2),
        Column("latency_cycles", "cycles", "", keep=6),
        Column("energy_nj", "energy", "nJ", keep=6),
    ]
    if not _is_a_sum(objective):
        columns.append(Column("objective", objective.name, objective.unit, keep=8))
    columns += [Column("x bound", keep=7), Column("samples", keep=1)]
    if any(row.get("gap") is not None for row in rows):
        columns.append(Column("proven", keep=9))
    return columns
